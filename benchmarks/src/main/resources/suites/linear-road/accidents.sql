-- Accidents: two cars that stand at one place, from the second's fourth report there on, with the minutes in which they are seen.
WITH standing AS (
    SELECT vehicle, xway, direction, lane, segment, position, time / 60 AS minute
    FROM (
        SELECT *,
            lag(position) OVER w AS one_before, lag(position, 2) OVER w AS two_before, lag(position, 3) OVER w AS three_before
        FROM positions
        WINDOW w AS (PARTITION BY vehicle, xway, direction, lane ORDER BY time)
    ) AS reports
    WHERE position = one_before AND position = two_before AND position = three_before
)
SELECT xway, direction, segment, position, min(minute) AS first_minute, max(minute) AS last_minute
FROM (
    SELECT xway, direction, lane, segment, position, minute
    FROM standing
    GROUP BY xway, direction, lane, segment, position, minute
    HAVING count(DISTINCT vehicle) >= 2
) AS seen
GROUP BY xway, direction, segment, position
