-- PRED: trips classified by a decision tree.
WITH trips AS (
    SELECT
        line, TIMESTAMP 'epoch' + split_part(line, ',', 1)::bigint * INTERVAL '1 millisecond' AS ts,
        substr(line, strpos(line, ',') + 1)::jsonb -> 'e' AS entries
    FROM taxi_lines
), features AS (
    SELECT
        t.line, t.ts, t.entries -> 0 ->> 'sv' AS taxi, e.entry ->> 'n' AS field, (e.entry ->> 'v')::double precision AS value
    FROM trips AS t, jsonb_array_elements(t.entries) AS e(entry)
), joined AS (
    SELECT
        line, ts, taxi,
        max(value) FILTER (WHERE field = 'trip_time_in_secs') AS seconds, max(value) FILTER (WHERE field = 'trip_distance') AS miles,
        max(value) FILTER (WHERE field = 'fare_amount') AS fare
    FROM features
    GROUP BY line, ts, taxi
)
SELECT taxi, ts, seconds, miles, fare, trip_class(seconds, miles, fare) AS class
FROM joined
