-- Which of equal prices comes first is open: the prices by rank are not.
SELECT auction, sum(price * rank_number)
FROM (
    SELECT auction, price, row_number() OVER (PARTITION BY auction ORDER BY price DESC) AS rank_number
    FROM bid
)
WHERE rank_number <= 10
GROUP BY auction
