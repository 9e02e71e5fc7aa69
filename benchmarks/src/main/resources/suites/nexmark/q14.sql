-- Calculation: conversion, time of day, and a count of characters, for a range of prices.
SELECT
    auction,
    bidder,
    0.908 * price AS price,
    CASE
        WHEN extract(hour FROM datetime) >= 8 AND extract(hour FROM datetime) <= 18 THEN 'dayTime'
        WHEN extract(hour FROM datetime) <= 6 OR extract(hour FROM datetime) >= 20 THEN 'nightTime'
        ELSE 'otherTime'
    END AS bidtimetype,
    datetime,
    extra,
    count_char(extra, 'c') AS c_counts
FROM bid
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000
