SELECT s, s + INTERVAL '6 hours', avg(humid), max(humid)
FROM warehouse, unnest(generate_series(
    time_bucket(INTERVAL '1 hour', time_hour) - INTERVAL '5 hours', time_bucket(INTERVAL '1 hour', time_hour), INTERVAL '1 hour')) AS w(s)
GROUP BY s
HAVING avg(humid) > 90 AND s + INTERVAL '6 hours' <= ${watermark}
