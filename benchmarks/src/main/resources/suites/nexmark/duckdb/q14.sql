SELECT
    auction,
    bidder,
    CAST(0.908 AS DECIMAL(4, 3)) * CAST(price AS DECIMAL(19, 0)) AS price,
    CASE
        WHEN hour(datetime) >= 8 AND hour(datetime) <= 18 THEN 'dayTime'
        WHEN hour(datetime) <= 6 OR hour(datetime) >= 20 THEN 'nightTime'
        ELSE 'otherTime'
    END AS bidtimetype,
    datetime,
    extra,
    length(extra) - length(replace(extra, 'c', '')) AS c_counts
FROM bid
WHERE price * 908 > 1000000000 AND price * 908 < 50000000000
