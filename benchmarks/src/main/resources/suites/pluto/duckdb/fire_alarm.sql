WITH numbered AS (
    SELECT *, row_number() OVER (ORDER BY ts) AS n
    FROM mote
    WHERE ts < ${watermark}
), rises AS (
    SELECT a.n
    FROM numbered AS a
    JOIN numbered AS b ON b.n = a.n - 1
    WHERE a.temperature - b.temperature BETWEEN 0.005 AND 0.105
)
SELECT c.ts, l.ts, c.temperature, l.temperature
FROM numbered AS c
JOIN numbered AS l ON l.n = c.n + 5
WHERE (SELECT count(*) FROM rises AS r WHERE r.n BETWEEN c.n + 1 AND c.n + 5) = 5
