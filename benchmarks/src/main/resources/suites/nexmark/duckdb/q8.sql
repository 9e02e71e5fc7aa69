SELECT DISTINCT p.id, p.name, time_bucket(INTERVAL '10 seconds', p.datetime)
FROM person p
JOIN auction a
ON p.id = a.seller
    AND time_bucket(INTERVAL '10 seconds', p.datetime) = time_bucket(INTERVAL '10 seconds', a.datetime)
WHERE time_bucket(INTERVAL '10 seconds', p.datetime) + INTERVAL '10 seconds' <= ${watermark}
