-- Bounded side input join: bids with what a table says of their auction when they come.
SELECT b.auction, b.bidder, b.price, b.datetime, s.value
FROM (SELECT *, proctime() AS p_time FROM bid) AS b
JOIN side_input FOR SYSTEM_TIME AS OF b.p_time AS s ON mod(b.auction, 10000) = s.key
