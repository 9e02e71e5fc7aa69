-- The same: views are counted per advertisement, and each closed window is joined with the campaigns.
SELECT c.campaign_id, w.window_start, sum(w.views) AS views
FROM (
    SELECT ad_id, window_start, window_end, count(*) AS views
    FROM TUMBLE(TABLE events, DESCRIPTOR(event_time), INTERVAL '10 seconds')
    WHERE event_type = 'view'
    GROUP BY ad_id, window_start, window_end
) AS w
JOIN campaigns AS c ON w.ad_id = c.ad_id
GROUP BY c.campaign_id, w.window_start
