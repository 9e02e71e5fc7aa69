-- Green house: readings that deviate from the twenty before by more than three standard deviations.
SELECT ts, temperature, average, deviation
FROM (
    SELECT ts, temperature, avg(temperature) OVER w AS average, stddev_samp(temperature) OVER w AS deviation, count(*) OVER w AS n
    FROM mote
    WINDOW w AS (ORDER BY ts ROWS BETWEEN 20 PRECEDING AND 1 PRECEDING)
) AS readings
WHERE n = 20 AND abs(temperature - average) > 3 * deviation + 0.05
