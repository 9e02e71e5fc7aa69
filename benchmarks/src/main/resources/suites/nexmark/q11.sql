-- User sessions: bids per bidder until ten seconds without one.
SELECT bidder, count(*) AS bid_count, window_start AS starttime, window_end AS endtime
FROM SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(datetime), INTERVAL '10 seconds')
GROUP BY bidder, window_start, window_end
