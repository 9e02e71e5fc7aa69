SELECT r.node, time_bucket(INTERVAL '5 minutes', ts) AS s, avg(r.temperature) AS average,
    CASE WHEN average > any_value(t.temperature) + 1 THEN 'cool' WHEN average < any_value(t.temperature) - 1 THEN 'off' ELSE 'keep' END
FROM rooms AS r
JOIN targets AS t ON t.node = r.node
WHERE time_bucket(INTERVAL '5 minutes', ts) + INTERVAL '5 minutes' <= ${watermark}
GROUP BY r.node, s
