SELECT xway, direction, segment, date_trunc('minute', ts) AS minute, count(DISTINCT vehicle), avg(speed)
FROM positions
WHERE date_trunc('minute', ts) + INTERVAL '1 minute' <= ${watermark}
GROUP BY 1, 2, 3, 4
