-- Three rising bids of one bidder in a row, within ten seconds.
SELECT bidder, since, until, first_price, last_price
FROM bid MATCH_RECOGNIZE (
    PARTITION BY bidder ORDER BY datetime, auction, price
    MEASURES a.datetime AS since, c.datetime AS until, a.price AS first_price, c.price AS last_price
    ONE ROW PER MATCH
    AFTER MATCH SKIP TO NEXT ROW
    PATTERN (a b c) WITHIN INTERVAL '10' SECOND
    DEFINE b AS b.price > a.price, c AS c.price > b.price
) AS rising
