WITH numbered AS (
    SELECT *, row_number() OVER (ORDER BY ts, line) AS n
    FROM trips
), scored AS (
    SELECT a.taxi, a.ts, a.n, abs(2.46 + 0.0052 * a.seconds + 2.04 * a.miles - a.fare) AS off,
        (SELECT avg(b.fare) FROM numbered AS b WHERE b.n BETWEEN a.n - 9 AND a.n) AS average
    FROM numbered AS a
)
SELECT taxi, ts, off / average, (SELECT avg(b.off) FROM scored AS b WHERE b.n <= a.n AND b.average > 0)
FROM scored AS a
WHERE average > 0
