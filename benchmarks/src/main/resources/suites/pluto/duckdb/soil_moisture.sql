SELECT node, time_bucket(INTERVAL '10 minutes', ts) AS s, avg(moisture) AS average, CASE WHEN average < 48 THEN 'dry' ELSE 'wet' END
FROM soil
WHERE time_bucket(INTERVAL '10 minutes', ts) + INTERVAL '10 minutes' <= ${watermark}
GROUP BY node, s
HAVING average < 48 OR average > 52
