SELECT ts, latitude, longitude,
    (SELECT min(km(c.latitude, c.longitude, p.latitude, p.longitude) - p.km) FROM safe_places AS p)
FROM child AS c
WHERE NOT EXISTS (SELECT 1 FROM safe_places AS p WHERE km(c.latitude, c.longitude, p.latitude, p.longitude) <= p.km)
