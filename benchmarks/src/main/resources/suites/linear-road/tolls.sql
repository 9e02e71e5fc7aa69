-- Tolls: of each segment for the next minute, from the cars in it, their speed in the last five minutes, and accidents up to four segments on.
WITH segment_minutes AS (
    SELECT xway, direction, segment, minute, avg(speed) AS speed, count(*) AS cars
    FROM (
        SELECT xway, direction, segment, time / 60 AS minute, vehicle, avg(speed) AS speed
        FROM positions
        GROUP BY xway, direction, segment, time / 60, vehicle
    ) AS cars
    GROUP BY xway, direction, segment, minute
), recent AS (
    SELECT xway, direction, segment, minute, cars,
        avg(speed) OVER (
            PARTITION BY xway, direction, segment ORDER BY minute RANGE BETWEEN 4 PRECEDING AND CURRENT ROW) AS lav
    FROM segment_minutes
), standing AS (
    SELECT vehicle, xway, direction, lane, segment, position, time / 60 AS minute
    FROM (
        SELECT *,
            lag(position) OVER w AS one_before, lag(position, 2) OVER w AS two_before, lag(position, 3) OVER w AS three_before
        FROM positions
        WINDOW w AS (PARTITION BY vehicle, xway, direction, lane ORDER BY time)
    ) AS reports
    WHERE position = one_before AND position = two_before AND position = three_before
), accidents AS (
    SELECT DISTINCT xway, direction, minute, segment
    FROM standing
    GROUP BY xway, direction, lane, segment, position, minute
    HAVING count(DISTINCT vehicle) >= 2
), closed AS (
    SELECT DISTINCT xway, direction, minute, CASE direction WHEN 0 THEN segment - ahead ELSE segment + ahead END AS segment
    FROM accidents CROSS JOIN generate_series(0, 4) AS downstream(ahead)
), tolls AS (
    SELECT r.xway, r.direction, r.segment, r.minute + 1 AS minute, r.lav, r.cars,
        CASE
            WHEN r.lav < 40 AND r.cars > 50 AND c.segment IS NULL THEN 2 * (r.cars - 50) * (r.cars - 50)
            ELSE 0
        END AS toll
    FROM recent AS r
    LEFT JOIN closed AS c
        ON c.xway = r.xway AND c.direction = r.direction AND c.segment = r.segment AND c.minute = r.minute
)
SELECT xway, direction, segment, minute, lav, cars, toll
FROM tolls
