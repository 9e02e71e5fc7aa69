-- Valleys in the prices of an auction: down, then up again, each as long as it lasts.
SELECT auction, start_price, bottom_price, end_price, bids
FROM bid MATCH_RECOGNIZE (
    PARTITION BY auction ORDER BY datetime, bidder, price
    MEASURES strt.price AS start_price, LAST(down.price) AS bottom_price, LAST(up.price) AS end_price, count(*) AS bids
    ONE ROW PER MATCH
    AFTER MATCH SKIP TO NEXT ROW
    PATTERN (strt down+ up+)
    DEFINE down AS price < PREV(price), up AS price > PREV(price)
) AS valleys
