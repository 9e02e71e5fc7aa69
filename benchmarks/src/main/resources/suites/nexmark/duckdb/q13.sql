SELECT auction, bidder, price, datetime, 'value of ' || (auction % 10000)
FROM bid
WHERE (auction % 10000) % 3 <> 0
