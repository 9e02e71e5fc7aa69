SELECT s, outside, coldest, hottest
FROM (
    SELECT date_trunc('minute', ts) AS s, count(*) AS n, sum(CASE WHEN temperature < 24 OR temperature > 32 THEN 1 ELSE 0 END) AS outside,
        min(temperature) AS coldest, max(temperature) AS hottest
    FROM mote
    GROUP BY s
)
WHERE outside > n // 2 AND s + INTERVAL '1 minute' <= ${watermark}
