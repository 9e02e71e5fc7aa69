SELECT auction, bidder, price, channel, url, datetime, extra
FROM (
    SELECT *, row_number() OVER (PARTITION BY bidder, auction ORDER BY datetime DESC) AS rank_number
    FROM bid
) AS ranked
WHERE rank_number <= 1
