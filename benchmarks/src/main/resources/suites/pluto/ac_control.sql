-- A/C control: on or off for each room and five minutes, by its average temperature and the user's target.
SELECT node, window_start, average,
    CASE WHEN average > target + 1 THEN 'cool' WHEN average < target - 1 THEN 'off' ELSE 'keep' END AS action
FROM (
    SELECT r.node, r.window_start, avg(r.temperature) AS average, max(t.temperature) AS target
    FROM TUMBLE(TABLE rooms, DESCRIPTOR(ts), INTERVAL '5 minutes') AS r
    JOIN targets FOR SYSTEM_TIME AS OF proctime() AS t ON t.node = r.node
    GROUP BY r.node, r.window_start, r.window_end
) AS rooms
