SELECT c.ts, arg_min(s.id, s.price * 1000 + s.id), min(s.price),
    arg_min(km(c.latitude, c.longitude, s.latitude, s.longitude), s.price * 1000 + s.id)
FROM commuter AS c
JOIN stations AS s
    ON s.price BETWEEN 3.10 AND 3.80 AND km(c.latitude, c.longitude, s.latitude, s.longitude) <= 2
WHERE c.occupied = 1
GROUP BY c.ts
