-- Selection: bids for certain auctions.
SELECT auction, price
FROM bid
WHERE mod(auction, 123) = 0
