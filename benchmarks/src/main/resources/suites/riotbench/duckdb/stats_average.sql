SELECT longitude, latitude, field, block, count(*), avg(value)
FROM (
    SELECT *, (row_number() OVER (PARTITION BY longitude, latitude, field ORDER BY ts, source) - 1) // 10 AS block
    FROM readings
    WHERE field NOT IN ('longitude', 'latitude')
)
GROUP BY ALL
