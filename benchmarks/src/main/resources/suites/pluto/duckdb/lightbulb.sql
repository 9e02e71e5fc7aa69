WITH places AS (
    SELECT ts, km(latitude, longitude, 37.7515::DOUBLE, -122.3945::DOUBLE) AS distance, row_number() OVER (ORDER BY ts) AS n
    FROM commuter
)
SELECT a.ts, CASE WHEN a.distance < 1 THEN 'on' ELSE 'off' END, a.distance
FROM places AS a
LEFT JOIN places AS b ON b.n = a.n - 1
WHERE b.n IS NULL OR (a.distance < 1) <> (b.distance < 1)
