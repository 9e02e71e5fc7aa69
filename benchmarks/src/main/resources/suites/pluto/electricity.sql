-- Electricity warning: houses whose plugs' loads of ten seconds add up to more than two kilowatts.
SELECT house, window_start, sum(load) AS watts
FROM (
    SELECT house, household, plug, window_start, window_end, avg(value) AS load
    FROM TUMBLE(TABLE plugs, DESCRIPTOR(ts), INTERVAL '10 seconds')
    WHERE property = 1
    GROUP BY house, household, plug, window_start, window_end
) AS loads
GROUP BY house, window_start, window_end
HAVING sum(load) > 2000
