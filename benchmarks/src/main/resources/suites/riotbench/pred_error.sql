-- PRED: how far the predicted fares are off, as part of the average of the last ten, and the average error so far.
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
), scored AS (
    SELECT line, taxi, ts, fare, 2.46 + 0.0052 * seconds + 2.04 * miles AS predicted,
        avg(fare) OVER (ORDER BY ts, line ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) AS average
    FROM joined
)
SELECT taxi, ts, abs(predicted - fare) / average AS error,
    avg(abs(predicted - fare)) OVER (ORDER BY ts, line ROWS UNBOUNDED PRECEDING) AS so_far
FROM scored
WHERE average > 0
