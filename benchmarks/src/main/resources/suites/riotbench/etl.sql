-- ETL: SenML parsed, ranges and a Bloom filter checked, what is missing interpolated, fields joined, messages annotated.
WITH messages AS (
    SELECT TIMESTAMP 'epoch' + split_part(line, ',', 1)::bigint * INTERVAL '1 millisecond' AS ts, substr(line, strpos(line, ',') + 1)::jsonb -> 'e' AS entries
    FROM sys_lines
), readings AS (
    SELECT
        m.ts, m.entries -> 0 ->> 'sv' AS source, e.entry ->> 'n' AS field, (e.entry ->> 'v')::double precision AS value,
        floor((m.entries -> 1 ->> 'v')::double precision) AS longitude, floor((m.entries -> 2 ->> 'v')::double precision) AS latitude
    FROM messages AS m, jsonb_array_elements(m.entries) AS e(entry)
), valid AS (
    SELECT r.ts, r.source, r.longitude, r.latitude, r.field, CASE WHEN r.value BETWEEN l.least AND l.most THEN r.value END AS value
    FROM readings AS r
    JOIN ranges AS l ON l.field = r.field
), known AS (
    SELECT v.*
    FROM valid AS v
    CROSS JOIN (SELECT bloom_filter(source) AS filter FROM sensors WHERE kind <> 'solar') AS trained
    WHERE bloom_contains(trained.filter, v.source)
), filled AS (
    SELECT ts, source, field, value IS NULL AS missing,
        coalesce(value, avg(value) OVER (
            PARTITION BY longitude, latitude, field ORDER BY ts, source ROWS BETWEEN 5 PRECEDING AND 1 PRECEDING)) AS value
    FROM known
), joined AS (
    SELECT
        ts, source,
        max(value) FILTER (WHERE field = 'temperature') AS temperature, max(value) FILTER (WHERE field = 'humidity') AS humidity,
        max(value) FILTER (WHERE field = 'light') AS light, max(value) FILTER (WHERE field = 'dust') AS dust,
        max(value) FILTER (WHERE field = 'airquality_raw') AS airquality_raw, count(*) FILTER (WHERE missing) AS missing
    FROM filled
    GROUP BY ts, source
)
SELECT j.*, s.place, s.kind
FROM joined AS j
LEFT JOIN sensors AS s ON s.source = j.source
