-- Find parking lots: when a taxi that was driving slows down or stops, the three nearest within five kilometres.
SELECT taxi, ts, id, place, distance
FROM (
    SELECT t.taxi, t.ts, l.id, km(t.latitude, t.longitude, l.latitude, l.longitude) AS distance,
        row_number() OVER (PARTITION BY t.id ORDER BY km(t.latitude, t.longitude, l.latitude, l.longitude), l.id) AS place
    FROM (
        SELECT *, lag(speed) OVER (PARTITION BY taxi ORDER BY ts, id) AS before
        FROM taxis
    ) AS t
    JOIN lots AS l ON km(t.latitude, t.longitude, l.latitude, l.longitude) < 5
    WHERE t.before >= 40 AND t.speed < 5
) AS near
WHERE place <= 3
