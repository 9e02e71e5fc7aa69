WITH numbered AS (
    SELECT *, row_number() OVER (ORDER BY ts) AS n
    FROM mote
)
SELECT a.ts, a.temperature, avg(b.temperature), stddev_samp(b.temperature)
FROM numbered AS a
JOIN numbered AS b ON b.n BETWEEN a.n - 20 AND a.n - 1
GROUP BY a.n, a.ts, a.temperature
HAVING count(*) = 20 AND abs(a.temperature - avg(b.temperature)) > 3 * stddev_samp(b.temperature) + 0.05
