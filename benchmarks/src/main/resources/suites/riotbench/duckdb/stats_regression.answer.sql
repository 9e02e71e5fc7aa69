-- columns: double, double, text, bigint, double, double
SELECT longitude, latitude, field, n, round(slope, 6), round(expected, 6)
FROM answer
