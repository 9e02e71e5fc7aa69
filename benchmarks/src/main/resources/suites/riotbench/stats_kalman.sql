-- STATS: measurements of a kind in a city as a Kalman filter over the last fifty sees them.
WITH messages AS (
    SELECT TIMESTAMP 'epoch' + split_part(line, ',', 1)::bigint * INTERVAL '1 millisecond' AS ts, substr(line, strpos(line, ',') + 1)::jsonb -> 'e' AS entries
    FROM sys_lines
), readings AS (
    SELECT
        m.ts, m.entries -> 0 ->> 'sv' AS source, e.entry ->> 'n' AS field, (e.entry ->> 'v')::double precision AS value,
        floor((m.entries -> 1 ->> 'v')::double precision) AS longitude, floor((m.entries -> 2 ->> 'v')::double precision) AS latitude
    FROM messages AS m, jsonb_array_elements(m.entries) AS e(entry)
)
SELECT ts, source, field, value,
    kalman(array_agg(value) OVER (
        PARTITION BY longitude, latitude, field ORDER BY ts, source ROWS BETWEEN 49 PRECEDING AND CURRENT ROW)) AS estimate
FROM readings
WHERE field IN ('temperature', 'humidity', 'dust')
