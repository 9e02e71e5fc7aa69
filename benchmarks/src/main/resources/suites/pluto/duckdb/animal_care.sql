SELECT d.ts, f.ts, km(d.latitude, d.longitude, f.latitude, f.longitude) AS distance
FROM dog AS d
ASOF JOIN flock AS f ON f.ts <= d.ts
WHERE distance > 5
