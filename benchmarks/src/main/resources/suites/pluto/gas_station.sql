-- Find gas station: for each position the cheapest station within two kilometres, if its price is in the user's range.
SELECT ts, id, price, distance
FROM (
    SELECT c.ts, s.id, s.price, km(c.latitude, c.longitude, s.latitude, s.longitude) AS distance,
        row_number() OVER (PARTITION BY c.ts ORDER BY s.price, s.id) AS place
    FROM commuter AS c
    JOIN stations AS s
        ON s.price BETWEEN 3.10 AND 3.80 AND km(c.latitude, c.longitude, s.latitude, s.longitude) <= 2
    WHERE c.occupied = 1
) AS near
WHERE place = 1
