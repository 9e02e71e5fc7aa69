-- Average price for a category: of the winning bids of its auctions.
SELECT q.category, avg(q.final) AS average
FROM (
    SELECT max(b.price) AS final, a.category
    FROM auction a, bid b
    WHERE a.id = b.auction AND b.datetime BETWEEN a.datetime AND a.expires
    GROUP BY a.id, a.category
) q
GROUP BY q.category
