-- An approximation may be off by five in a hundred.
SELECT DISTINCT field, ts, true
FROM (SELECT field, ts FROM readings UNION ALL SELECT 'source', ts FROM readings)
