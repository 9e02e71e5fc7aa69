SELECT *
FROM (SELECT floor(seconds / 30) * 30 AS since, count(rate) AS beats, sum(CASE WHEN rate > 130 THEN 1 ELSE 0 END) AS high FROM beats GROUP BY ALL)
WHERE high > beats / 10
