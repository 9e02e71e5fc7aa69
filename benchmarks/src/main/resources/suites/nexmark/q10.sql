-- Log: all bids with the day and the minute that their partition of a file would be named by; where they go is the benchmark's sink.
SELECT auction, bidder, price, datetime, extra, to_char(datetime, 'YYYY-MM-DD') AS dt, to_char(datetime, 'HH24:MI') AS hm
FROM bid
