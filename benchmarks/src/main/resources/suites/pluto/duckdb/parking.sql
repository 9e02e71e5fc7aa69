WITH numbered AS (
    SELECT *, row_number() OVER (PARTITION BY taxi ORDER BY ts, id) AS n
    FROM taxis
), near AS (
    SELECT t.taxi, t.ts, t.id AS report, l.id, km(t.latitude, t.longitude, l.latitude, l.longitude) AS distance
    FROM numbered AS t
    JOIN numbered AS b ON b.taxi = t.taxi AND b.n = t.n - 1
    JOIN lots AS l ON km(t.latitude, t.longitude, l.latitude, l.longitude) < 5
    WHERE b.speed >= 40 AND t.speed < 5
)
SELECT a.taxi, a.ts, a.id, 1 + (SELECT count(*) FROM near AS b WHERE b.report = a.report AND (b.distance, b.id) < (a.distance, a.id)) AS place, a.distance
FROM near AS a
WHERE place <= 3
