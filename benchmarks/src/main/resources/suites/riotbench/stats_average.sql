-- STATS: average of each ten measurements of a kind in a city, in the order of time.
WITH messages AS (
    SELECT TIMESTAMP 'epoch' + split_part(line, ',', 1)::bigint * INTERVAL '1 millisecond' AS ts, substr(line, strpos(line, ',') + 1)::jsonb -> 'e' AS entries
    FROM sys_lines
), readings AS (
    SELECT
        m.ts, m.entries -> 0 ->> 'sv' AS source, e.entry ->> 'n' AS field, (e.entry ->> 'v')::double precision AS value,
        floor((m.entries -> 1 ->> 'v')::double precision) AS longitude, floor((m.entries -> 2 ->> 'v')::double precision) AS latitude
    FROM messages AS m, jsonb_array_elements(m.entries) AS e(entry)
)
SELECT longitude, latitude, field, block, count(*) AS n, avg(value) AS average
FROM (
    SELECT longitude, latitude, field, value,
        (row_number() OVER (PARTITION BY longitude, latitude, field ORDER BY ts, source) - 1) / 10 AS block
    FROM readings
    WHERE field IN ('temperature', 'humidity', 'light', 'dust', 'airquality_raw')
) AS numbered
GROUP BY longitude, latitude, field, block
