WITH counted AS (
    SELECT auction, count(*) AS num, w AS starttime
    FROM bid, unnest(generate_series(
        time_bucket(INTERVAL '2 seconds', datetime) - INTERVAL '8 seconds',
        time_bucket(INTERVAL '2 seconds', datetime),
        INTERVAL '2 seconds')) AS windows(w)
    GROUP BY auction, w
)
SELECT auction, num
FROM counted
WHERE num = (SELECT max(num) FROM counted AS other WHERE other.starttime = counted.starttime)
    AND starttime + INTERVAL '10 seconds' <= ${watermark}
