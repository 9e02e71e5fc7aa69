-- columns: bigint, bigint
SELECT auction, sum(price * rank_number)
FROM answer
GROUP BY auction
