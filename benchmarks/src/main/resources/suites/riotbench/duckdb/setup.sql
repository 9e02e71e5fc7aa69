-- Parsed without JSON: the documents are regular enough.
CREATE TABLE sensors AS
SELECT split_part(column0, ':', 1) AS source, split_part(split_part(column0, ':', 2), ',', 1) AS place, split_part(split_part(column0, ':', 2), ',', 2) AS kind
FROM read_csv('${data}/riotbench/city-metadata.txt', header = false, delim = '\t', quote = '', columns = {'column0': 'VARCHAR'});
CREATE VIEW readings AS
SELECT ts, source, floor(longitude) AS longitude, floor(latitude) AS latitude, field, value
FROM (
    SELECT
        make_timestamp(CAST(split_part(line, ',', 1) AS BIGINT) * 1000) AS ts,
        regexp_extract(line, '"sv":"([^"]*)"', 1) AS source,
        CAST(regexp_extract(line, '"v":"([^"]*)","u":"lon"', 1) AS DOUBLE) AS longitude,
        CAST(regexp_extract(line, '"v":"([^"]*)","u":"lat"', 1) AS DOUBLE) AS latitude,
        unnest(['temperature', 'humidity', 'light', 'dust', 'airquality_raw', 'longitude', 'latitude']) AS field,
        CAST(regexp_extract(line, '"v":"([^"]*)","u":"[a-z]*","n":"' || field || '"', 1) AS DOUBLE) AS value
    FROM sys_lines
);
CREATE VIEW bits AS
SELECT DISTINCT CAST('0x' || substr(md5(source), 1 + 8 * i, 8) AS BIGINT) % 4096 AS bit
FROM sensors, range(3) AS hashes(i)
WHERE kind <> 'solar';
CREATE VIEW known AS
SELECT *
FROM readings
WHERE CAST('0x' || substr(md5(source), 1, 8) AS BIGINT) % 4096 IN (SELECT bit FROM bits)
    AND CAST('0x' || substr(md5(source), 9, 8) AS BIGINT) % 4096 IN (SELECT bit FROM bits)
    AND CAST('0x' || substr(md5(source), 17, 8) AS BIGINT) % 4096 IN (SELECT bit FROM bits);
CREATE VIEW filled AS
SELECT ts, source, field, v IS NULL AS missing,
    coalesce(v, avg(v) OVER (
        PARTITION BY longitude, latitude, field ORDER BY ts, source ROWS BETWEEN 5 PRECEDING AND 1 PRECEDING)) AS value
FROM (
    SELECT *,
        CASE
            WHEN field = 'temperature' AND value BETWEEN -12.5 AND 43.1 OR field = 'humidity' AND value BETWEEN 10.7 AND 95.2
                OR field = 'light' AND value BETWEEN 1 AND 26282 OR field = 'dust' AND value BETWEEN 186.61 AND 5188.21
                OR field = 'airquality_raw' AND value BETWEEN 17 AND 363
            THEN value
        END AS v
    FROM known
    WHERE field NOT IN ('longitude', 'latitude')
);
CREATE VIEW etl AS
SELECT f.ts, f.source,
    max(value) FILTER (field = 'temperature') AS temperature, max(value) FILTER (field = 'humidity') AS humidity,
    max(value) FILTER (field = 'light') AS light, max(value) FILTER (field = 'dust') AS dust,
    max(value) FILTER (field = 'airquality_raw') AS airquality_raw, count(*) FILTER (missing) AS missing,
    any_value(s.place) AS place, any_value(s.kind) AS kind
FROM filled AS f
LEFT JOIN sensors AS s USING (source)
GROUP BY f.ts, f.source;
-- The filter's recursion, a step per measurement, begun anew for each of the last fifty.
CREATE VIEW kalman AS
WITH RECURSIVE numbered AS (
    SELECT *, row_number() OVER (PARTITION BY longitude, latitude, field ORDER BY ts, source) AS n
    FROM readings
    WHERE field IN ('temperature', 'humidity', 'dust')
), steps AS (
    SELECT longitude, latitude, field, n AS upto, greatest(n - 50, 0) AS n, CAST(0 AS DOUBLE) AS estimate, CAST(30 AS DOUBLE) AS error
    FROM numbered
    UNION ALL
    SELECT s.longitude, s.latitude, s.field, s.upto, m.n,
        s.estimate + (s.error + 0.125) / (s.error + 0.125 + 0.32) * (m.value - s.estimate),
        (s.error + 0.125) * (1 - (s.error + 0.125) / (s.error + 0.125 + 0.32))
    FROM steps AS s
    JOIN numbered AS m
        ON m.longitude = s.longitude AND m.latitude = s.latitude AND m.field = s.field AND m.n = s.n + 1
    WHERE s.n < s.upto
)
SELECT m.ts, m.source, m.longitude, m.latitude, m.field, m.value, m.n, s.estimate
FROM steps AS s
JOIN numbered AS m ON m.longitude = s.longitude AND m.latitude = s.latitude AND m.field = s.field AND m.n = s.upto
WHERE s.n = s.upto;
CREATE VIEW trips AS
SELECT
    make_timestamp(CAST(split_part(line, ',', 1) AS BIGINT) * 1000) AS ts,
    regexp_extract(line, '"n":"taxi_identifier","sv":"([^"]*)"', 1) AS taxi, line,
    CAST(regexp_extract(line, '"v":"([^"]*)","u":"second","n":"trip_time_in_secs"', 1) AS DOUBLE) AS seconds,
    CAST(regexp_extract(line, '"v":"([^"]*)","u":"meter","n":"trip_distance"', 1) AS DOUBLE) AS miles,
    CAST(regexp_extract(line, '"v":"([^"]*)","u":"dollar","n":"fare_amount"', 1) AS DOUBLE) AS fare
FROM taxi_lines
