SELECT b.auction, b.price, b.bidder, b.datetime, b.extra
FROM bid b
JOIN (
    SELECT max(price) AS maxprice, time_bucket(INTERVAL '10 seconds', datetime) + INTERVAL '10 seconds' AS datetime
    FROM bid
    GROUP BY 2
) b1
ON b.price = b1.maxprice
WHERE b.datetime BETWEEN b1.datetime - INTERVAL '10 seconds' AND b1.datetime
    AND b1.datetime <= ${watermark}
