-- Child mood monitoring: heart beats after ten seconds in which the heart rate was high all the time, and on average.
WITH passes AS (
    SELECT seconds, 60 / (seconds - lag(seconds) OVER (ORDER BY seconds)) AS rate
    FROM (
        SELECT DISTINCT seconds
        FROM (SELECT seconds, ii, lag(ii) OVER (ORDER BY seconds, ii, v, pleth) AS before FROM ecg) AS samples
        WHERE ii >= 0.8 AND before < 0.8
    ) AS upwards
), beats AS (
    SELECT * FROM passes WHERE rate BETWEEN 30 AND 220
)
SELECT seconds, lowest, average
FROM (
    SELECT seconds,
        min(rate) OVER (ORDER BY seconds RANGE BETWEEN 10 PRECEDING AND CURRENT ROW) AS lowest,
        avg(rate) OVER (ORDER BY seconds RANGE BETWEEN 10 PRECEDING AND CURRENT ROW) AS average
    FROM beats
) AS rates
WHERE lowest > 85 AND average > 90
