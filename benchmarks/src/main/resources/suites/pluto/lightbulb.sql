-- Lightbulb control: when to switch the lights on (within a kilometre of home) or off.
SELECT ts, CASE WHEN near THEN 'on' ELSE 'off' END AS lights, distance
FROM (
    SELECT ts, distance, distance < 1 AS near, lag(distance < 1) OVER (ORDER BY ts) AS before
    FROM (SELECT ts, km(latitude, longitude, 37.7515, -122.3945) AS distance FROM commuter) AS places
) AS moves
WHERE before IS NULL OR before <> near
