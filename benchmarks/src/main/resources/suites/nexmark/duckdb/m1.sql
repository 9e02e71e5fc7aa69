SELECT bidder, datetime, third_time, price, third_price
FROM (
    SELECT bidder, datetime, price,
        lead(price) OVER w AS second_price, lead(price, 2) OVER w AS third_price, lead(datetime, 2) OVER w AS third_time
    FROM bid
    WHERE datetime < ${watermark}
    WINDOW w AS (PARTITION BY bidder ORDER BY datetime, auction, price)
)
WHERE second_price > price AND third_price > second_price AND third_time - datetime <= INTERVAL '10 seconds'
