-- Currency conversion: a projection.
SELECT auction, bidder, 0.908 * price AS price, datetime, extra
FROM bid
