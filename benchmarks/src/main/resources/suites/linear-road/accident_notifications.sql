-- Accident notifications: cars that enter a segment up to four before an accident that was there a minute ago.
WITH standing AS (
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
), crossings AS (
    SELECT vehicle, time, xway, direction, segment, time / 60 AS minute
    FROM (
        SELECT *, lag(segment) OVER (PARTITION BY vehicle ORDER BY time) AS previous
        FROM positions
    ) AS reports
    WHERE lane <> 4 AND (previous IS NULL OR previous <> segment)
)
SELECT c.vehicle, c.time, c.xway, c.direction, c.segment, min(abs(a.segment - c.segment)) AS ahead
FROM crossings AS c
JOIN accidents AS a
    ON a.xway = c.xway AND a.direction = c.direction AND a.minute = c.minute - 1
        AND CASE c.direction WHEN 0 THEN a.segment - c.segment ELSE c.segment - a.segment END BETWEEN 0 AND 4
GROUP BY c.vehicle, c.time, c.xway, c.direction, c.segment
