-- Each campaign so far: its views, the advertisements viewed, and when last; changes with every view.
SELECT c.campaign_id, count(*) AS views, count(DISTINCT e.ad_id) AS ads, max(e.event_time) AS latest
FROM events AS e
JOIN campaigns AS c ON e.ad_id = c.ad_id
WHERE e.event_type = 'view'
GROUP BY c.campaign_id
