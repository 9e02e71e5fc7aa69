-- Processing-time windows: bids per bidder in each ten seconds of the machine's own time.
SELECT bidder, count(*) AS bid_count, window_start AS starttime, window_end AS endtime
FROM TUMBLE((SELECT bidder, proctime() AS p_time FROM bid), DESCRIPTOR(p_time), INTERVAL '10 seconds')
GROUP BY bidder, window_start, window_end
