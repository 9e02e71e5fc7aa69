-- Moisture removal: six hours, every hour, in which the warehouse was more humid than 90 % on average: the dehydrator runs.
SELECT window_start, window_end, avg(humid) AS average, max(humid) AS highest
FROM HOP(TABLE warehouse, DESCRIPTOR(time_hour), INTERVAL '1 hour', INTERVAL '6 hours')
GROUP BY window_start, window_end
HAVING avg(humid) > 90
