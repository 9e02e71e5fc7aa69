SELECT ad_id // 10 AS campaign_id, count(*), count(DISTINCT ad_id), max(event_time)
FROM events
WHERE event_type = 'view'
GROUP BY 1
