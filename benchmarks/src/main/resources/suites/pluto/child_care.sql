-- Remote child care: positions of a child that is at none of its safe places, and how far it is to the next.
SELECT c.ts, c.latitude, c.longitude, min(km(c.latitude, c.longitude, p.latitude, p.longitude) - p.km) AS beyond
FROM child AS c
CROSS JOIN safe_places AS p
GROUP BY c.ts, c.latitude, c.longitude
HAVING min(km(c.latitude, c.longitude, p.latitude, p.longitude) - p.km) > 0
