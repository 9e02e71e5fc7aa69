-- STATS: the second-order moment (surprise number) of each kind's measurements: the sum of squared frequencies.
WITH messages AS (
    SELECT TIMESTAMP 'epoch' + split_part(line, ',', 1)::bigint * INTERVAL '1 millisecond' AS ts, substr(line, strpos(line, ',') + 1)::jsonb -> 'e' AS entries
    FROM sys_lines
), readings AS (
    SELECT
        m.ts, m.entries -> 0 ->> 'sv' AS source, e.entry ->> 'n' AS field, (e.entry ->> 'v')::double precision AS value,
        floor((m.entries -> 1 ->> 'v')::double precision) AS longitude, floor((m.entries -> 2 ->> 'v')::double precision) AS latitude
    FROM messages AS m, jsonb_array_elements(m.entries) AS e(entry)
)
SELECT field, sum(frequency * frequency) AS moment, count(*) AS different, sum(frequency) AS n
FROM (
    SELECT field, value, count(*) AS frequency
    FROM readings
    WHERE value IS NOT NULL
    GROUP BY field, value
) AS frequencies
GROUP BY field
