-- columns: bigint, bigint
SELECT bidder, sum(bid_count)
FROM answer
GROUP BY bidder
