WITH marked AS (
    SELECT *, coalesce(ts - lag(ts) OVER (PARTITION BY node ORDER BY ts) >= INTERVAL '20 minutes', true) AS starts
    FROM motion
), numbered AS (
    SELECT *, sum(CAST(starts AS INTEGER)) OVER (PARTITION BY node ORDER BY ts) AS session
    FROM marked
)
SELECT node, min(ts), max(ts), count(*)
FROM numbered
GROUP BY node, session
HAVING max(ts) + INTERVAL '40 minutes' <= ${watermark}
