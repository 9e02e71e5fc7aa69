-- Animal care: when the sheepdog is more than five kilometres from where its flock was last seen.
SELECT ts, seen, distance
FROM (
    SELECT d.ts, f.ts AS seen, km(d.latitude, d.longitude, f.latitude, f.longitude) AS distance
    FROM (SELECT *, 1 AS farm FROM dog) AS d
    ASOF JOIN (SELECT *, 1 AS farm FROM flock) AS f ON f.farm = d.farm AND f.ts <= d.ts
) AS pairs
WHERE distance > 5
