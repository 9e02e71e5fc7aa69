-- Of each bid: the next that is not lower than the one before it, and the next that is not higher.
-- A valley is one when its end is seen, or nothing can follow.
WITH numbered AS (
    SELECT auction, price, row_number() OVER w AS n, price < lag(price) OVER w AS lower, price > lag(price) OVER w AS higher
    FROM bid
    WHERE datetime < ${watermark}
    WINDOW w AS (PARTITION BY auction ORDER BY datetime, bidder, price)
), ahead AS (
    SELECT *,
        min(CASE WHEN lower THEN NULL ELSE n END) OVER w AS not_lower,
        min(CASE WHEN higher THEN NULL ELSE n END) OVER w AS not_higher,
        max(n) OVER (PARTITION BY auction) AS most
    FROM numbered
    WINDOW w AS (PARTITION BY auction ORDER BY n ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
)
SELECT s.auction, s.price, bottom.price, top.price, top.n - s.n + 1
FROM ahead s
JOIN ahead up ON up.auction = s.auction AND up.n = s.not_lower AND up.higher AND s.not_lower > s.n + 1
JOIN numbered bottom ON bottom.auction = s.auction AND bottom.n = up.n - 1
JOIN numbered top ON top.auction = s.auction AND top.n = coalesce(up.not_higher, up.most + 1) - 1
WHERE up.not_higher IS NOT NULL OR ${watermark} = 'infinity'
