-- Cars and their average speed per segment and minute, once the minute is over.
SELECT xway, direction, segment, window_start, count(DISTINCT vehicle) AS cars, avg(speed) AS speed
FROM TUMBLE(TABLE positions, DESCRIPTOR(ts), INTERVAL '1 minute')
GROUP BY xway, direction, segment, window_start, window_end
