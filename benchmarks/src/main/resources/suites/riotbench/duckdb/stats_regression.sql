SELECT longitude, latitude, field, n, round(slope, 6), round(intercept + slope * (n + 1), 6)
FROM (
    SELECT longitude, latitude, field, n, count(*) OVER w AS k,
        regr_slope(estimate, n) OVER w AS slope, regr_intercept(estimate, n) OVER w AS intercept
    FROM kalman
    WHERE field <> 'humidity'
    WINDOW w AS (PARTITION BY longitude, latitude, field ORDER BY n ROWS BETWEEN 9 PRECEDING AND CURRENT ROW)
)
WHERE k > 1
