-- columns: text, timestamp, boolean
SELECT a.field, a.ts, abs(a.sources - e.sources) <= 1 + 0.05 * e.sources
FROM answer AS a
JOIN (
    SELECT ts, count(DISTINCT regexp_extract(line, '"sv":"([^"]*)"', 1)) AS sources
    FROM (SELECT make_timestamp(CAST(split_part(line, ',', 1) AS BIGINT) * 1000) AS ts, line FROM sys_lines)
    GROUP BY ts
) AS e USING (ts)
