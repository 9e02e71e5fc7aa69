WITH told AS (
    SELECT c.vehicle, c.time, coalesce(t.toll, 0) AS toll
    FROM crossings AS c
    LEFT JOIN tolls AS t USING (xway, direction, segment, minute)
)
SELECT vehicle, sum(toll), count(*)
FROM told AS a
WHERE EXISTS (SELECT 1 FROM told AS b WHERE b.vehicle = a.vehicle AND b.time > a.time)
GROUP BY vehicle
