-- STATS: sliding linear regression over the Kalman filter's last ten estimates, and what it expects next.
WITH messages AS (
    SELECT TIMESTAMP 'epoch' + split_part(line, ',', 1)::bigint * INTERVAL '1 millisecond' AS ts, substr(line, strpos(line, ',') + 1)::jsonb -> 'e' AS entries
    FROM sys_lines
), readings AS (
    SELECT
        m.ts, m.entries -> 0 ->> 'sv' AS source, e.entry ->> 'n' AS field, (e.entry ->> 'v')::double precision AS value,
        floor((m.entries -> 1 ->> 'v')::double precision) AS longitude, floor((m.entries -> 2 ->> 'v')::double precision) AS latitude
    FROM messages AS m, jsonb_array_elements(m.entries) AS e(entry)
), estimates AS (
    SELECT longitude, latitude, field, ts, source,
        row_number() OVER w AS n,
        kalman(array_agg(value) OVER (
            PARTITION BY longitude, latitude, field ORDER BY ts, source ROWS BETWEEN 49 PRECEDING AND CURRENT ROW)) AS estimate
    FROM readings
    WHERE field IN ('temperature', 'dust')
    WINDOW w AS (PARTITION BY longitude, latitude, field ORDER BY ts, source)
), sums AS (
    SELECT longitude, latitude, field, n,
        count(*) OVER w AS k, sum(n) OVER w AS x, sum(n * n) OVER w AS xx, sum(estimate) OVER w AS y, sum(n * estimate) OVER w AS xy
    FROM estimates
    WINDOW w AS (PARTITION BY longitude, latitude, field ORDER BY n ROWS BETWEEN 9 PRECEDING AND CURRENT ROW)
), lines AS (
    SELECT longitude, latitude, field, n, k, x, y, (k * xy - x * y) / (k * xx - x * x) AS slope
    FROM sums
    WHERE k > 1
)
SELECT longitude, latitude, field, n, slope, (y - slope * x) / k + slope * (n + 1) AS expected
FROM lines
