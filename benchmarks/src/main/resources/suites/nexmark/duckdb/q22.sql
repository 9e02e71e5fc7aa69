SELECT
    auction,
    bidder,
    price,
    channel,
    split_part(url, '/', 3 + 1) AS dir1,
    split_part(url, '/', 4 + 1) AS dir2,
    split_part(url, '/', 5 + 1) AS dir3
FROM bid
