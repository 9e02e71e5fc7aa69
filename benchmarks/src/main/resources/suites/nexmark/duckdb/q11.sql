WITH marked AS (
    SELECT bidder, datetime,
        CASE WHEN datetime - lag(datetime) OVER (PARTITION BY bidder ORDER BY datetime) < INTERVAL '10 seconds'
            THEN 0 ELSE 1 END AS starts
    FROM bid
), numbered AS (
    SELECT bidder, datetime, sum(starts) OVER (PARTITION BY bidder ORDER BY datetime) AS session
    FROM marked
)
SELECT bidder, count(*), min(datetime), max(datetime) + INTERVAL '10 seconds'
FROM numbered
GROUP BY bidder, session
HAVING max(datetime) + INTERVAL '10 seconds' <= ${watermark} - INTERVAL '10 seconds'
