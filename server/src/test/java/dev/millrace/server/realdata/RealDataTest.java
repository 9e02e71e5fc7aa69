package dev.millrace.server.realdata;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.engine.runtime.StandingQuery;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("long")
class RealDataTest {
    @ParameterizedTest(name = "with {0} workers")
    @ValueSource(ints = {1, 2})
    void householdPowerHasTwoDateFormatsAndMissingMeasures(int workers) {
        String path = DataFolder.path("uci_household_power/household_power_2007H1.csv.gz");
        try (RealData data = new RealData(workers)) {
            data.execute("CREATE STREAM power (\"Date\" DATE NOT NULL, \"Time\" TIME NOT NULL,"
                    + " \"Global_active_power\" NUMERIC(8,3), \"Voltage\" NUMERIC(8,3), \"Sub_metering_3\" DOUBLE PRECISION)"
                    + " WITH (connector = 'file', path = '" + path + "', format = 'csv', header = true, \"null\" = '?',"
                    + " date_format = 'D/M/YY|D/M/YYYY')");
            data.oracleTable("raw", path);
            data.oracleExecute(
                    "CREATE TABLE power AS SELECT strptime(\"Date\" || ' ' || \"Time\", '%d/%m/%Y %H:%M:%S') AS ts,"
                            + " CAST(nullif(\"Global_active_power\", '?') AS DECIMAL(8,3)) AS p,"
                            + " CAST(nullif(\"Voltage\", '?') AS DECIMAL(8,3)) AS v,"
                            + " CAST(nullif(\"Sub_metering_3\", '') AS DOUBLE) AS s FROM raw");
            // where the file has two digits, that read a year of the first century
            data.oracleExecute("UPDATE power SET ts = ts + INTERVAL '2000 years' WHERE year(ts) < 100");
            String ours = "(SELECT \"Date\" + \"Time\" AS ts, \"Global_active_power\" AS p, \"Voltage\" AS v,"
                    + " \"Sub_metering_3\" AS s FROM power) AS x";
            data.assertSelects(
                    "SELECT count(*), count(p), min(ts), max(ts), sum(p), min(v), max(v), sum(s) FROM " + ours,
                    "SELECT count(*), count(p), min(ts), max(ts), sum(p), min(v), max(v), sum(s) FROM power");
            data.assertSelects(
                    "SELECT date_trunc('day', ts) AS d, count(*), count(p), avg(p), stddev_samp(v), count(DISTINCT v),"
                            + " percentile_cont(0.95) WITHIN GROUP (ORDER BY p), percentile_disc(0.5) WITHIN GROUP (ORDER BY v)"
                            + " FROM " + ours + " GROUP BY 1",
                    "SELECT date_trunc('day', ts), count(*), count(p), avg(p), stddev_samp(v), count(DISTINCT v),"
                            + " quantile_cont(CAST(p AS DOUBLE), 0.95), quantile_disc(v, 0.5) FROM power GROUP BY 1");
            data.assertStands(
                    "hourly",
                    "SELECT extract(hour FROM ts) AS h, sum(p) AS total, max(v) AS top, count(*) FILTER (WHERE p IS NULL) AS missing"
                            + " FROM " + ours + " GROUP BY 1",
                    "SELECT hour(ts), sum(p), max(v), count(*) FILTER (WHERE p IS NULL) FROM power GROUP BY 1");
        }
    }

    @ParameterizedTest(name = "with {0} workers")
    @ValueSource(ints = {1, 2})
    void beijingAirIsTwelveFilesFullOfNAs(int workers) {
        String path = DataFolder.path("beijing_multisite_air/PRSA_Data_*.csv.gz");
        try (RealData data = new RealData(workers)) {
            data.execute("CREATE STREAM air (year INTEGER NOT NULL, month INTEGER NOT NULL, day INTEGER NOT NULL,"
                    + " hour INTEGER NOT NULL, \"PM2.5\" DOUBLE PRECISION, \"TEMP\" NUMERIC(6,2), wd TEXT, station TEXT NOT NULL)"
                    + " WITH (connector = 'file', path = '" + path
                    + "', format = 'csv', header = true, \"null\" = 'NA')");
            data.oracleTable("raw", path);
            data.oracleExecute(
                    "CREATE TABLE air AS SELECT CAST(year AS INTEGER) AS year, CAST(month AS INTEGER) AS month,"
                            + " CAST(day AS INTEGER) AS day, CAST(hour AS INTEGER) AS hour, CAST(nullif(\"PM2.5\", 'NA') AS DOUBLE) AS pm,"
                            + " CAST(nullif(\"TEMP\", 'NA') AS DECIMAL(6,2)) AS t, nullif(wd, 'NA') AS wd, station FROM raw");
            String ours = "(SELECT year, month, day, hour, \"PM2.5\" AS pm, \"TEMP\" AS t, wd, station FROM air) AS x";
            data.assertSelects(
                    "SELECT station, year, count(*), count(pm), count(wd), count(DISTINCT wd), avg(pm), min(t), max(t),"
                            + " percentile_cont(0.9) WITHIN GROUP (ORDER BY pm) FROM " + ours
                            + " GROUP BY station, year",
                    "SELECT station, year, count(*), count(pm), count(wd), count(DISTINCT wd), avg(pm), min(t), max(t),"
                            + " quantile_cont(pm, 0.9) FROM air GROUP BY station, year");
            data.assertStands(
                    "winds",
                    "SELECT wd, month, count(*) AS n, sum(t) AS total, count(DISTINCT station) AS stations FROM " + ours
                            + " GROUP BY wd, month",
                    "SELECT wd, month, count(*), sum(t), count(DISTINCT station) FROM air GROUP BY wd, month");
            data.assertStands(
                    "worst",
                    "SELECT station, year, month, day, hour, pm FROM (SELECT *, row_number() OVER (PARTITION BY station"
                            + " ORDER BY pm DESC NULLS LAST, year, month, day, hour) AS pos FROM " + ours
                            + ") AS ranked WHERE pos <= 3",
                    "SELECT station, year, month, day, hour, pm FROM (SELECT *, row_number() OVER (PARTITION BY station"
                            + " ORDER BY pm DESC NULLS LAST, year, month, day, hour) AS pos FROM air) WHERE pos <= 3");
        }
    }

    /**
     * The last rows of the file are months late, and some have no time at all. One worker: what is late depends on the
     * order of the rows.
     */
    @ParameterizedTest(name = "late by more than {0}")
    @ValueSource(strings = {"0 seconds", "1 hour", "30 days"})
    void albuquerqueWeatherHasRowsMonthsLate(String delay) {
        String path = DataFolder.path("noaa_asos_weather/asos_ABQ_2017.csv");
        try (RealData data = new RealData(1)) {
            data.execute(
                    "CREATE STREAM weather (time_hour TIMESTAMPTZ, temp DOUBLE PRECISION, wind_dir DOUBLE PRECISION,"
                            + " WATERMARK FOR time_hour AS time_hour - INTERVAL '" + delay + "')"
                            + " WITH (connector = 'file', path = '" + path
                            + "', format = 'csv', header = true, \"null\" = 'NA')");
            data.oracleTable("raw", path);
            data.oracleExecute("CREATE TABLE weather AS SELECT seq, CAST(nullif(time_hour, 'NA') AS TIMESTAMPTZ) AS ts,"
                    + " CAST(nullif(temp, 'NA') AS DOUBLE) AS temp FROM raw");
            String windows = "SELECT *, time_bucket(INTERVAL '6 hours', ts, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS s,"
                    + " max(ts) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) - INTERVAL '"
                    + delay
                    + "' AS watermark FROM weather";
            String late = "ts IS NULL OR s + INTERVAL '6 hours' <= watermark";
            StandingQuery query = data.assertStands(
                    "six_hours",
                    "SELECT window_start, window_end, count(*) AS n, avg(temp) AS mean, max(temp) AS top"
                            + " FROM TUMBLE(TABLE weather, DESCRIPTOR(time_hour), INTERVAL '6 hours')"
                            + " GROUP BY window_start, window_end",
                    "SELECT s, s + INTERVAL '6 hours', count(*), avg(temp), max(temp) FROM (" + windows
                            + ") WHERE NOT coalesce(" + late + ", false) GROUP BY s");
            long expected =
                    data.oracleCount("SELECT count(*) FROM (" + windows + ") WHERE coalesce(" + late + ", false)");
            assertEquals(expected, query.statistics().lateRows());
        }
    }

    @ParameterizedTest(name = "with {0} workers")
    @ValueSource(ints = {1, 2})
    void smartPlugsTieAndRepeat(int workers) {
        String path = DataFolder.path("debs2014_smartplug/debs2014_smartplug_33k.csv");
        try (RealData data = new RealData(workers)) {
            data.execute("CREATE STREAM plugs (\"timestamp\" TIMESTAMPTZ NOT NULL, value NUMERIC(12,3) NOT NULL,"
                    + " property INTEGER NOT NULL, plug INTEGER NOT NULL, household INTEGER NOT NULL, house INTEGER NOT NULL,"
                    + " WATERMARK FOR \"timestamp\" AS \"timestamp\" - INTERVAL '1 second')"
                    + " WITH (connector = 'file', path = '" + path
                    + "', format = 'csv', header = true, timestamp_format = 'unix')");
            data.oracleTable("raw", path);
            data.oracleExecute("CREATE TABLE plugs AS SELECT to_timestamp(CAST(\"timestamp\" AS BIGINT)) AS ts,"
                    + " CAST(value AS DECIMAL(12,3)) AS value, CAST(property AS INTEGER) AS property,"
                    + " CAST(plug AS INTEGER) AS plug, CAST(household AS INTEGER) AS household, CAST(house AS INTEGER) AS house"
                    + " FROM raw");
            data.assertSelects("SELECT DISTINCT * FROM plugs", "SELECT DISTINCT * FROM plugs");
            data.assertStands(
                    "sliding",
                    "SELECT house, window_start, window_end, count(*) AS n, avg(value) AS mean, max(value) AS top,"
                            + " count(DISTINCT plug) AS plugs FROM HOP(TABLE plugs, DESCRIPTOR(\"timestamp\"),"
                            + " INTERVAL '5 seconds', INTERVAL '30 seconds') WHERE property = 1"
                            + " GROUP BY house, window_start, window_end",
                    "SELECT house, s, s + INTERVAL '30 seconds', count(*), avg(value), max(value), count(DISTINCT plug)"
                            + " FROM plugs, unnest(generate_series(time_bucket(INTERVAL '5 seconds', ts) - INTERVAL '25 seconds',"
                            + " time_bucket(INTERVAL '5 seconds', ts), INTERVAL '5 seconds')) AS w(s) WHERE property = 1"
                            + " GROUP BY house, s");
            data.assertStands(
                    "medians",
                    "SELECT house, household, plug, percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS median,"
                            + " percentile_disc(0.9) WITHIN GROUP (ORDER BY value) AS high FROM plugs WHERE property = 1"
                            + " GROUP BY house, household, plug",
                    "SELECT house, household, plug, quantile_cont(CAST(value AS DOUBLE), 0.5), quantile_disc(value, 0.9)"
                            + " FROM plugs WHERE property = 1 GROUP BY house, household, plug");
        }
    }

    @ParameterizedTest(name = "late by more than {0}")
    @ValueSource(strings = {"1 hour", "1 day", "1000 days"})
    void halfOfTheTaxiTripsRunBackward(String delay) {
        String path = DataFolder.path("nyc_taxi/green_tripdata_2024-01.csv.gz");
        try (RealData data = new RealData(1)) {
            data.execute("CREATE STREAM trips (lpep_pickup_datetime TIMESTAMP NOT NULL, \"PULocationID\" INTEGER,"
                    + " passenger_count DOUBLE PRECISION, trip_distance NUMERIC(12,2), total_amount NUMERIC(10,2), ehail_fee TEXT,"
                    + " WATERMARK FOR lpep_pickup_datetime AS lpep_pickup_datetime - INTERVAL '" + delay + "')"
                    + " WITH (connector = 'file', path = '" + path + "', format = 'csv', header = true)");
            data.oracleTable("raw", path);
            data.oracleExecute(
                    "CREATE TABLE trips AS SELECT seq, CAST(lpep_pickup_datetime AS TIMESTAMP) AS ts,"
                            + " CAST(\"PULocationID\" AS INTEGER) AS zone, CAST(passenger_count AS DOUBLE) AS passengers,"
                            + " CAST(trip_distance AS DECIMAL(12,2)) AS miles, CAST(total_amount AS DECIMAL(10,2)) AS amount FROM raw");
            data.assertSelects(
                    "SELECT \"PULocationID\", count(*), count(passenger_count), sum(total_amount), max(trip_distance),"
                            + " percentile_disc(0.5) WITHIN GROUP (ORDER BY total_amount) FROM trips GROUP BY 1",
                    "SELECT zone, count(*), count(passengers), sum(amount), max(miles), quantile_disc(amount, 0.5)"
                            + " FROM trips GROUP BY 1");
            String windows = "SELECT *, date_trunc('hour', ts) AS s, max(ts) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED"
                    + " PRECEDING AND 1 PRECEDING) - INTERVAL '" + delay + "' AS watermark FROM trips";
            String late = "coalesce(s + INTERVAL '1 hour' <= watermark, false)";
            StandingQuery query = data.assertStands(
                    "hours",
                    "SELECT window_start, count(*) AS n, sum(total_amount) AS money, count(DISTINCT \"PULocationID\") AS zones"
                            + " FROM TUMBLE(TABLE trips, DESCRIPTOR(lpep_pickup_datetime), INTERVAL '1 hour')"
                            + " GROUP BY window_start, window_end",
                    "SELECT s, count(*), sum(amount), count(DISTINCT zone) FROM (" + windows + ") WHERE NOT " + late
                            + " GROUP BY s");
            assertEquals(
                    data.oracleCount("SELECT count(*) FROM (" + windows + ") WHERE " + late),
                    query.statistics().lateRows());
        }
    }

    @ParameterizedTest(name = "with {0} workers")
    @ValueSource(ints = {1, 2})
    void badRecordsAreCountedAndReadable(int workers) {
        String path = DataFolder.path("noaa_asos_weather/asos_ABQ_2017.csv");
        try (RealData data = new RealData(workers)) {
            // without a text for NULL, every NA in a numeric column is a bad record
            data.execute(
                    "CREATE STREAM weather (temp DOUBLE PRECISION, wind_dir DOUBLE PRECISION) WITH (connector = 'file',"
                            + " path = '" + path + "', format = 'csv', header = true, on_error = 'dead_letter')");
            data.oracleTable("raw", path);
            data.assertStands(
                    "counts",
                    "SELECT count(*) AS n, count(DISTINCT wind_dir) AS directions FROM weather",
                    "SELECT count(*), count(DISTINCT wind_dir) FROM raw WHERE temp <> 'NA' AND wind_dir <> 'NA'");
            assertEquals(
                    data.oracleCount("SELECT count(*) FROM raw WHERE temp = 'NA' OR wind_dir = 'NA'"),
                    data.count("SELECT count(*) FROM millrace.rejected_rows"));
        }
    }
}
