SELECT ad_id // 10 AS campaign_id, time_bucket(INTERVAL '10 seconds', event_time) AS window_start, count(*) AS views
FROM events
WHERE event_type = 'view'
GROUP BY 1, 2
HAVING window_start + INTERVAL '10 seconds' <= ${watermark}
