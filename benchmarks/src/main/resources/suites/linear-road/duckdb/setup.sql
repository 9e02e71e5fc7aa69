-- The oracle joins reports with reports, where ours look back.
CREATE VIEW standing AS
SELECT d.vehicle, d.xway, d.direction, d.lane, d.segment, d.position, d.time // 60 AS minute
FROM positions AS a
JOIN positions AS b USING (vehicle, xway, direction, lane, position)
JOIN positions AS c USING (vehicle, xway, direction, lane, position)
JOIN positions AS d USING (vehicle, xway, direction, lane, position)
WHERE b.time = a.time + 30 AND c.time = a.time + 60 AND d.time = a.time + 90;
CREATE VIEW accident_minutes AS
SELECT DISTINCT a.xway, a.direction, a.segment, a.position, a.minute
FROM standing AS a
JOIN standing AS b USING (xway, direction, lane, position, minute)
WHERE a.vehicle < b.vehicle;
CREATE VIEW segment_minutes AS
SELECT xway, direction, segment, minute, avg(speed) AS speed, count(*) AS cars
FROM (
    SELECT xway, direction, segment, time // 60 AS minute, vehicle, avg(speed) AS speed
    FROM positions
    GROUP BY ALL
)
GROUP BY ALL;
CREATE VIEW tolls AS
SELECT s.xway, s.direction, s.segment, s.minute + 1 AS minute, avg(p.speed) AS lav, any_value(s.cars) AS cars,
    CASE
        WHEN avg(p.speed) < 40 AND any_value(s.cars) > 50 AND NOT EXISTS (
            SELECT 1
            FROM accident_minutes AS a
            WHERE a.xway = s.xway AND a.direction = s.direction AND a.minute = s.minute
                AND CASE s.direction WHEN 0 THEN a.segment - s.segment ELSE s.segment - a.segment END BETWEEN 0 AND 4)
        THEN 2 * (any_value(s.cars) - 50) * (any_value(s.cars) - 50)
        ELSE 0
    END AS toll
FROM segment_minutes AS s
JOIN segment_minutes AS p USING (xway, direction, segment)
WHERE p.minute BETWEEN s.minute - 4 AND s.minute
GROUP BY s.xway, s.direction, s.segment, s.minute;
CREATE VIEW crossings AS
SELECT p.vehicle, p.time, p.xway, p.direction, p.segment, p.time // 60 AS minute
FROM positions AS p
WHERE p.lane <> 4 AND NOT EXISTS (
    SELECT 1 FROM positions AS q WHERE q.vehicle = p.vehicle AND q.time = p.time - 30 AND q.segment = p.segment)
