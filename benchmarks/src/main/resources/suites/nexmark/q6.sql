-- Average selling price of a seller's auctions: of the one sold and the ten sold before it.
SELECT seller, avg(price) OVER (PARTITION BY seller ORDER BY sold, id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS average
FROM (
    SELECT
        a.id, a.seller, b.price, b.datetime AS sold,
        row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.datetime ASC) AS rownum
    FROM auction a, bid b
    WHERE a.id = b.auction AND b.datetime BETWEEN a.datetime AND a.expires
) AS won
WHERE rownum <= 1
