-- Soil moisture monitoring: ten minutes by ten minutes, places whose moisture is not normal, and on which side.
SELECT node, window_start, average, CASE WHEN average < 48 THEN 'dry' ELSE 'wet' END AS state
FROM (
    SELECT node, window_start, avg(moisture) AS average
    FROM TUMBLE(TABLE soil, DESCRIPTOR(ts), INTERVAL '10 minutes')
    GROUP BY node, window_start, window_end
) AS places
WHERE average NOT BETWEEN 48 AND 52
