-- Highest bid: the bids with the highest price of each ten seconds.
SELECT b.auction, b.price, b.bidder, b.datetime, b.extra
FROM bid b
JOIN (
    SELECT max(price) AS maxprice, window_end AS datetime
    FROM TUMBLE(TABLE bid, DESCRIPTOR(datetime), INTERVAL '10 seconds')
    GROUP BY window_start, window_end
) b1
ON b.price = b1.maxprice
WHERE b.datetime BETWEEN b1.datetime - INTERVAL '10 seconds' AND b1.datetime
