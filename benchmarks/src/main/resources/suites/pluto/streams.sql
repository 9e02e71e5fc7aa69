-- The data of the paper's section 3.5.1 is not at hand; each kind has a stand-in among the real data sets.

-- Temperature at home: five rooms (nodes) of a house, degrees Fahrenheit.
CREATE STREAM rooms (
    ts TIMESTAMP NOT NULL, node INTEGER NOT NULL, light INTEGER, temperature DOUBLE PRECISION,
    WATERMARK FOR ts AS ts
) WITH (connector = 'file', path = '${data}/iawe_home/light_temp.csv.gz', format = 'csv', header = 'false', timestamp_format = 'unix');

-- Motion in the rooms of that house.
CREATE STREAM motion (
    ts TIMESTAMP NOT NULL, node INTEGER NOT NULL,
    WATERMARK FOR ts AS ts
) WITH (connector = 'file', path = '${data}/iawe_home/pir.csv', format = 'csv', header = 'false', timestamp_format = 'unix');

-- Temperature and humidity of a mote outdoors, every five seconds; time counts readings.
CREATE STREAM mote (
    ts TIMESTAMP NOT NULL, id INTEGER NOT NULL, humidity DOUBLE PRECISION, temperature DOUBLE PRECISION, anomaly INTEGER,
    WATERMARK FOR ts AS ts
) WITH (connector = 'file', path = '${data}/wsn_labelled_motes/singlehop-outdoor-moteid4-data.txt', format = 'csv', header = 'false', delimiter = 'tab', skip_lines = 4, timestamp_format = 'unix');

-- Soil moisture: the humidity that nineteen motes measure, once a minute.
CREATE STREAM soil (
    ts TIMESTAMP NOT NULL, node INTEGER NOT NULL, seq BIGINT, inside DOUBLE PRECISION, voltage DOUBLE PRECISION,
    moisture DOUBLE PRECISION, temperature DOUBLE PRECISION, par DOUBLE PRECISION, tsr DOUBLE PRECISION,
    WATERMARK FOR ts AS ts
) WITH (connector = 'file', path = '${data}/wsn_ulb_library/library1_R1.txt', format = 'csv', header = 'false', delimiter = 'space', encoding = 'latin-1', decimal_comma = 'true', thousands = 'nbsp', timestamp_format = 'unix_ms');

-- Humidity of a warehouse: an airport's weather.
CREATE STREAM warehouse (
    time_hour TIMESTAMP NOT NULL, temp DOUBLE PRECISION, humid DOUBLE PRECISION,
    WATERMARK FOR time_hour AS time_hour
) WITH (connector = 'file', path = '${data}/noaa_asos_weather/asos_SEA_2015.csv', format = 'csv', header = 'true', "null" = 'NA');

-- A patient's ECG, 125 a second; a beat is where lead II passes 0.8 upwards, noise aside.
CREATE STREAM ecg (
    seconds DOUBLE PRECISION NOT NULL, resp DOUBLE PRECISION, pleth DOUBLE PRECISION, v DOUBLE PRECISION, avr DOUBLE PRECISION,
    ii DOUBLE PRECISION
) WITH (connector = 'file', path = '${data}/physio_ecg_resp/bidmc_01_Signals.csv.gz', format = 'csv', header = 'false', skip_lines = 1);

-- Positions: of two people, and of a dog and its flock, all of them cabs in truth; and of 53 taxis, one after another.
CREATE STREAM child (
    latitude DOUBLE PRECISION NOT NULL, longitude DOUBLE PRECISION NOT NULL, occupied INTEGER, ts TIMESTAMP NOT NULL,
    WATERMARK FOR ts AS ts
) WITH (connector = 'file', path = '${data}/gps_traces/cabspotting_new_abboip.txt', format = 'csv', header = 'false', delimiter = 'space', timestamp_format = 'unix');
CREATE STREAM commuter (
    latitude DOUBLE PRECISION NOT NULL, longitude DOUBLE PRECISION NOT NULL, occupied INTEGER, ts TIMESTAMP NOT NULL,
    WATERMARK FOR ts AS ts
) WITH (connector = 'file', path = '${data}/gps_traces/cabspotting_new_aiwalb.txt', format = 'csv', header = 'false', delimiter = 'space', timestamp_format = 'unix');
CREATE STREAM dog (
    latitude DOUBLE PRECISION NOT NULL, longitude DOUBLE PRECISION NOT NULL, occupied INTEGER, ts TIMESTAMP NOT NULL,
    WATERMARK FOR ts AS ts
) WITH (connector = 'file', path = '${data}/gps_traces/cabspotting_new_ugthfu.txt', format = 'csv', header = 'false', delimiter = 'space', timestamp_format = 'unix');
CREATE STREAM flock (
    latitude DOUBLE PRECISION NOT NULL, longitude DOUBLE PRECISION NOT NULL, occupied INTEGER, ts TIMESTAMP NOT NULL,
    WATERMARK FOR ts AS ts
) WITH (connector = 'file', path = '${data}/gps_traces/cabspotting_new_uvreoipy.txt', format = 'csv', header = 'false', delimiter = 'space', timestamp_format = 'unix');
CREATE STREAM taxis (
    id BIGINT NOT NULL, taxi INTEGER NOT NULL, ts TIMESTAMP NOT NULL, latitude DOUBLE PRECISION NOT NULL,
    longitude DOUBLE PRECISION NOT NULL, speed DOUBLE PRECISION NOT NULL, bearing DOUBLE PRECISION
) WITH (connector = 'file', path = '${data}/gps_traces/beijing_taxi_traces_75k.csv.gz', format = 'csv', header = 'false');

-- Power: property 1 is the load of a plug in watts.
CREATE STREAM plugs (
    ts TIMESTAMP NOT NULL, value DOUBLE PRECISION NOT NULL, property INTEGER NOT NULL, plug INTEGER NOT NULL,
    household INTEGER NOT NULL, house INTEGER NOT NULL,
    WATERMARK FOR ts AS ts
) WITH (connector = 'file', path = '${data}/debs2014_smartplug/debs2014_smartplug_33k.csv', format = 'csv', header = 'false', skip_lines = 1, timestamp_format = 'unix');

-- What users have set.
CREATE TABLE targets (node INTEGER PRIMARY KEY, temperature DOUBLE PRECISION NOT NULL);
INSERT INTO targets VALUES (2, 88), (3, 90), (4, 89), (5, 87), (7, 91);
CREATE TABLE safe_places (name TEXT PRIMARY KEY, latitude DOUBLE PRECISION NOT NULL, longitude DOUBLE PRECISION NOT NULL, km DOUBLE PRECISION NOT NULL);
INSERT INTO safe_places VALUES ('home', 37.7515, -122.3945, 2), ('school', 37.7880, -122.4075, 3), ('airport', 37.6155, -122.3930, 2);
CREATE TABLE stations (id INTEGER PRIMARY KEY, latitude DOUBLE PRECISION NOT NULL, longitude DOUBLE PRECISION NOT NULL, price NUMERIC(4, 2) NOT NULL);
INSERT INTO stations
SELECT n, 37.60 + 0.02 * mod(n, 12), -122.50 + 0.02 * (n / 12), 3.00 + 0.07 * mod(n * 7, 20)
FROM generate_series(0, 95) AS numbers(n);
CREATE TABLE lots (id INTEGER PRIMARY KEY, latitude DOUBLE PRECISION NOT NULL, longitude DOUBLE PRECISION NOT NULL);
INSERT INTO lots
SELECT n, 39.80 + 0.03 * mod(n, 9), 116.20 + 0.03 * (n / 9)
FROM generate_series(0, 116) AS numbers(n);

-- The distance of two places on the globe, by the haversine formula.
CREATE FUNCTION km(lat1 DOUBLE PRECISION, lon1 DOUBLE PRECISION, lat2 DOUBLE PRECISION, lon2 DOUBLE PRECISION) RETURNS DOUBLE PRECISION
LANGUAGE SQL AS $$
    SELECT 12742 * asin(sqrt(
        power(sin(radians(lat2 - lat1) / 2), 2) + cos(radians(lat1)) * cos(radians(lat2)) * power(sin(radians(lon2 - lon1) / 2), 2)))
$$;
