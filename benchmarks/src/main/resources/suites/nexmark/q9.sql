-- Winning bids: the highest bid of each auction, the earliest of equals.
SELECT
    id, itemname, description, initialbid, reserve, datetime, expires, seller, category, extra,
    auction, bidder, price, bid_datetime, bid_extra
FROM (
    SELECT
        a.*, b.auction, b.bidder, b.price, b.datetime AS bid_datetime, b.extra AS bid_extra,
        row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.datetime ASC) AS rownum
    FROM auction a, bid b
    WHERE a.id = b.auction AND b.datetime BETWEEN a.datetime AND a.expires
) AS ranked
WHERE rownum <= 1
