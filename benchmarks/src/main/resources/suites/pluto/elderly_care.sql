-- Elderly care: when motion in a room ended and nothing moved there for twenty minutes, and how long it had lasted.
SELECT node, window_start AS first_motion, window_end - INTERVAL '20 minutes' AS last_motion, count(*) AS motions
FROM SESSION(TABLE motion PARTITION BY node, DESCRIPTOR(ts), INTERVAL '20 minutes')
GROUP BY node, window_start, window_end
