-- Pass through: what it costs to move rows.
SELECT auction, bidder, price, datetime, extra
FROM bid
