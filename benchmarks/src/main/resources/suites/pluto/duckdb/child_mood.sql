SELECT a.seconds, min(b.rate), avg(b.rate)
FROM beats AS a
JOIN beats AS b ON b.seconds BETWEEN a.seconds - 10 AND a.seconds
GROUP BY a.seconds
HAVING min(b.rate) > 85 AND avg(b.rate) > 90
