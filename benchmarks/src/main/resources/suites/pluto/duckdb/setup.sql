CREATE TABLE targets AS SELECT * FROM (VALUES (2, 88), (3, 90), (4, 89), (5, 87), (7, 91)) AS t(node, temperature);
CREATE TABLE safe_places AS
SELECT *
FROM (VALUES
    ('home', 37.7515::DOUBLE, -122.3945::DOUBLE, 2), ('school', 37.7880, -122.4075, 3), ('airport', 37.6155, -122.3930, 2)
) AS t(name, latitude, longitude, km);
CREATE TABLE stations AS
SELECT n AS id, 37.60::DOUBLE + 0.02::DOUBLE * (n % 12) AS latitude, -122.50::DOUBLE + 0.02::DOUBLE * (n // 12) AS longitude,
    CAST(3.00 + 0.07 * (n * 7 % 20) AS DECIMAL(4, 2)) AS price
FROM range(96) AS numbers(n);
CREATE TABLE lots AS
SELECT n AS id, 39.80::DOUBLE + 0.03::DOUBLE * (n % 9) AS latitude, 116.20::DOUBLE + 0.03::DOUBLE * (n // 9) AS longitude
FROM range(117) AS numbers(n);
CREATE MACRO km(lat1, lon1, lat2, lon2) AS 12742 * asin(sqrt(
    sin(radians(lat2 - lat1) / 2) ** 2 + cos(radians(lat1)) * cos(radians(lat2)) * sin(radians(lon2 - lon1) / 2) ** 2));
CREATE VIEW beats AS
SELECT *
FROM (
    SELECT seconds, 60 / (seconds - lag(seconds) OVER (ORDER BY seconds)) AS rate
    FROM (
        SELECT DISTINCT a.seconds
        FROM (SELECT *, row_number() OVER (ORDER BY seconds, ii, v, pleth) AS n FROM ecg) AS a
        JOIN (SELECT *, row_number() OVER (ORDER BY seconds, ii, v, pleth) AS n FROM ecg) AS b ON b.n = a.n - 1
        WHERE a.ii >= 0.8 AND b.ii < 0.8
    )
)
WHERE rate >= 30 AND rate <= 220
