-- The tree's leaves as boxes.
SELECT t.taxi, t.ts, t.seconds, t.miles, t.fare, b.class
FROM trips AS t
LEFT JOIN (
    VALUES
        (-1e9, 1.35, -1e9, 420, -1e9, 1e9, 'short'), (-1e9, 1.35, 420, 1e9, -1e9, 1e9, 'stuck'),
        (1.35, 1e9, -1e9, 1e9, 4.4, 1e9, 'slow'), (1.35, 4.9, -1e9, 900, -1e9, 4.4, 'usual'),
        (4.9, 1e9, -1e9, 900, -1e9, 4.4, 'fast'), (1.35, 8.2, 900, 1e9, -1e9, 4.4, 'long'),
        (8.2, 1e9, 900, 1e9, -1e9, 4.4, 'far')
) AS b(m1, m2, s1, s2, r1, r2, class)
    ON t.miles > m1 AND t.miles <= m2 AND t.seconds > s1 AND t.seconds <= s2
        AND (t.miles <= 1.35 OR t.fare / t.miles > r1 AND t.fare / t.miles <= r2)
