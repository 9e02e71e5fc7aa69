-- PRED: fares by multi-variate linear regression, from a table of coefficients.
WITH trips AS (
    SELECT
        line, TIMESTAMP 'epoch' + split_part(line, ',', 1)::bigint * INTERVAL '1 millisecond' AS ts,
        substr(line, strpos(line, ',') + 1)::jsonb -> 'e' AS entries
    FROM taxi_lines
), features AS (
    SELECT
        t.line, t.ts, t.entries -> 0 ->> 'sv' AS taxi, e.entry ->> 'n' AS field, (e.entry ->> 'v')::double precision AS value
    FROM trips AS t, jsonb_array_elements(t.entries) AS e(entry)
)
SELECT
    f.taxi, f.ts, sum(f.value * m.coefficient) + (SELECT coefficient FROM fare_model WHERE field = 'intercept') AS predicted
FROM features AS f
JOIN fare_model AS m ON m.field = f.field
GROUP BY f.line, f.taxi, f.ts
