SELECT d.ts, f.ts, km(d.latitude, d.longitude, f.latitude, f.longitude) AS distance
FROM dog AS d
JOIN flock AS f ON f.ts = (SELECT max(g.ts) FROM flock AS g WHERE g.ts <= d.ts)
WHERE distance > 5
