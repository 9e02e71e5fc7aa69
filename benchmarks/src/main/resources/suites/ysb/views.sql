-- The benchmark's query: views, filtered, with their campaign looked up, counted per campaign and ten seconds.
SELECT campaign_id, window_start, count(*) AS views
FROM TUMBLE((
    SELECT e.event_time, c.campaign_id
    FROM events AS e
    JOIN campaigns FOR SYSTEM_TIME AS OF proctime() AS c ON e.ad_id = c.ad_id
    WHERE e.event_type = 'view'
), DESCRIPTOR(event_time), INTERVAL '10 seconds')
GROUP BY campaign_id, window_start, window_end
