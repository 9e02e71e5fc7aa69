-- Hot items: the auctions with most bids in the last ten seconds, every two seconds.
SELECT auctionbids.auction, auctionbids.num
FROM (
    SELECT auction, count(*) AS num, window_start AS starttime, window_end AS endtime
    FROM HOP(TABLE bid, DESCRIPTOR(datetime), INTERVAL '2 seconds', INTERVAL '10 seconds')
    GROUP BY auction, window_start, window_end
) AS auctionbids
JOIN (
    SELECT max(countbids.num) AS maxn, countbids.starttime, countbids.endtime
    FROM (
        SELECT count(*) AS num, window_start AS starttime, window_end AS endtime
        FROM HOP(TABLE bid, DESCRIPTOR(datetime), INTERVAL '2 seconds', INTERVAL '10 seconds')
        GROUP BY auction, window_start, window_end
    ) AS countbids
    GROUP BY countbids.starttime, countbids.endtime
) AS maxbids
ON auctionbids.starttime = maxbids.starttime
    AND auctionbids.endtime = maxbids.endtime
    AND auctionbids.num >= maxbids.maxn
