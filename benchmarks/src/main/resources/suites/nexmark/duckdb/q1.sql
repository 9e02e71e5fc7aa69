SELECT auction, bidder, CAST(0.908 AS DECIMAL(4, 3)) * CAST(price AS DECIMAL(19, 0)) AS price, datetime, extra
FROM bid
