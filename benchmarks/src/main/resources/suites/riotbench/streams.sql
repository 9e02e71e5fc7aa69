-- Messages as they come: milliseconds, a comma, and a SenML document (RFC 8428) whose values are texts.
-- Sensors in seven cities: source, longitude, latitude, temperature, humidity, light, dust, airquality_raw.
CREATE STREAM sys_lines (
    line TEXT NOT NULL
) WITH (connector = 'file', path = '${data}/riotbench/SYS_sample_data_senml.csv', format = 'csv', header = 'false', delimiter = 'tab', quote = 'none');

-- Taxi trips: 16 fields, among them taxi_identifier, trip_time_in_secs, trip_distance, fare_amount, total_amount.
CREATE STREAM taxi_lines (
    line TEXT NOT NULL
) WITH (connector = 'file', path = '${data}/riotbench/TAXI_sample_data_senml.csv', format = 'csv', header = 'false', delimiter = 'tab', quote = 'none');

-- What is known of the sensors.
CREATE STREAM sensor_file (source TEXT NOT NULL, attributes TEXT NOT NULL) WITH (connector = 'file', path = '${data}/riotbench/city-metadata.txt', format = 'csv', header = 'false', delimiter = ':');
CREATE TABLE sensors (source TEXT PRIMARY KEY, place TEXT NOT NULL, kind TEXT NOT NULL);
INSERT INTO sensors
SELECT source, split_part(attributes, ',', 1), split_part(attributes, ',', 2)
FROM sensor_file;

-- Ranges in which measurements are valid; what is outside counts as missing.
CREATE TABLE ranges (field TEXT PRIMARY KEY, least DOUBLE PRECISION NOT NULL, most DOUBLE PRECISION NOT NULL);
INSERT INTO ranges VALUES
    ('temperature', -12.5, 43.1), ('humidity', 10.7, 95.2), ('light', 1, 26282), ('dust', 186.61, 5188.21),
    ('airquality_raw', 17, 363);

-- A linear model of a trip's fare.
CREATE TABLE fare_model (field TEXT PRIMARY KEY, coefficient DOUBLE PRECISION NOT NULL);
INSERT INTO fare_model VALUES ('intercept', 2.46), ('trip_time_in_secs', 0.0052), ('trip_distance', 2.04);

CREATE FUNCTION bloom_filter(TEXT) RETURNS BYTEA
LANGUAGE JAVA AS '${functions}', 'dev.millrace.benchmarks.riotbench.BloomFilter';
CREATE FUNCTION bloom_contains(BYTEA, TEXT) RETURNS BOOLEAN
LANGUAGE JAVA AS '${functions}', 'dev.millrace.benchmarks.riotbench.BloomCheck';
CREATE FUNCTION kalman(DOUBLE PRECISION[]) RETURNS DOUBLE PRECISION
LANGUAGE JAVA AS '${functions}', 'dev.millrace.benchmarks.riotbench.Kalman';

-- A decision tree for trips.
CREATE FUNCTION trip_class(seconds DOUBLE PRECISION, miles DOUBLE PRECISION, fare DOUBLE PRECISION) RETURNS TEXT
LANGUAGE SQL AS $$
    SELECT CASE
        WHEN miles <= 1.35 THEN CASE WHEN seconds <= 420 THEN 'short' ELSE 'stuck' END
        WHEN fare / miles > 4.4 THEN 'slow'
        WHEN seconds <= 900 THEN CASE WHEN miles > 4.9 THEN 'fast' ELSE 'usual' END
        ELSE CASE WHEN miles > 8.2 THEN 'far' ELSE 'long' END
    END
$$;
