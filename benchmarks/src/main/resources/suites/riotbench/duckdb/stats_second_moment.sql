-- Pairs of equal measurements.
SELECT a.field, count(*), count(DISTINCT a.value), (SELECT count(*) FROM readings AS c WHERE c.field = a.field)
FROM readings AS a
JOIN readings AS b ON a.field = b.field AND a.value = b.value
GROUP BY a.field
