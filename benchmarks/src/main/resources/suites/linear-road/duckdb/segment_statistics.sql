SELECT xway, direction, segment, date_trunc('minute', ts) AS minute, count(DISTINCT vehicle), avg(speed)
FROM positions
GROUP BY ALL
HAVING minute + INTERVAL '1 minute' <= ${watermark}
