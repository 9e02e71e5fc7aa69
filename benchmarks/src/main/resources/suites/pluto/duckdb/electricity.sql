SELECT house, s, sum(load)
FROM (
    SELECT house, household, plug, time_bucket(INTERVAL '10 seconds', ts) AS s, avg(value) AS load
    FROM plugs
    WHERE property = 1
    GROUP BY ALL
)
WHERE s + INTERVAL '10 seconds' <= ${watermark}
GROUP BY house, s
HAVING sum(load) > 2000
