package dev.millrace.server.realdata;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Taxis that tell where they are about once a minute, with pauses of up to half an hour, one after the other in the file. */
@Tag("long")
class RealSensorsTest {
    private static final String WAY = "haversine(lag(lat) OVER w, lag(lon) OVER w, lat, lon)";

    /** The other form of the haversine, by differences of places on the unit sphere. */
    private static final String DUCK_WAY =
            "2 * 6371008.7714 * asin(sqrt(power(sin(radians(lat - plat) / 2), 2) + cos(radians(lat))"
                    + " * cos(radians(plat)) * power(sin(radians(lon - plon) / 2), 2)))";

    @ParameterizedTest(name = "with {0} workers")
    @ValueSource(ints = {1, 2})
    void taxisThatPause(int workers) {
        String path = DataFolder.path("gps_traces/beijing_taxi_traces_75k.csv.gz");
        try (RealData data = new RealData(workers)) {
            data.execute(
                    "CREATE STREAM taxis (id BIGINT, vehicle INTEGER, ts TIMESTAMP, lat DOUBLE PRECISION, lon DOUBLE PRECISION,"
                            + " speed DOUBLE PRECISION, bearing DOUBLE PRECISION) WITH (connector = 'file', path = '"
                            + path
                            + "', format = 'csv', header = false)");
            data.oracleExecute("CREATE TABLE taxis AS SELECT * FROM read_csv('" + path
                    + "', header = false, columns = {'id': 'BIGINT', 'vehicle': 'INTEGER', 'ts': 'TIMESTAMP', 'lat': 'DOUBLE', 'lon': 'DOUBLE',"
                    + " 'speed': 'DOUBLE', 'bearing': 'DOUBLE'})");
            data.assertStands(
                    "minutes",
                    "SELECT time_bucket_gapfill('1 minute', ts) AS minute, vehicle, locf(max(speed)) AS last, interpolate(avg(lat)) AS lat, count(*) AS n"
                            + " FROM taxis GROUP BY minute, vehicle",
                    "WITH groups AS (SELECT time_bucket(INTERVAL '1 minute', ts) AS b, vehicle, max(speed) AS s, avg(lat) AS lat, count(*) AS n"
                            + " FROM taxis GROUP BY ALL), grid AS (SELECT vehicle, unnest(generate_series(min(b), max(b), INTERVAL '1 minute')) AS b"
                            + " FROM groups GROUP BY vehicle) SELECT grid.b, grid.vehicle, p.s, CASE WHEN grid.b = p.b THEN p.lat ELSE p.lat +"
                            + " (f.lat - p.lat) * epoch(grid.b - p.b) / epoch(f.b - p.b) END, CASE WHEN grid.b = p.b THEN p.n END FROM grid"
                            + " ASOF JOIN groups AS p ON grid.vehicle = p.vehicle AND grid.b >= p.b"
                            + " ASOF JOIN groups AS f ON grid.vehicle = f.vehicle AND grid.b <= f.b");
            data.assertStands(
                    "smooth",
                    "SELECT id, ema(speed, ts, INTERVAL '5 minutes') OVER (PARTITION BY vehicle ORDER BY ts, id) AS s FROM taxis WHERE vehicle % 5 = 0",
                    "SELECT id, list_reduce(list({'v': speed, 't': epoch(ts)}) OVER (PARTITION BY vehicle ORDER BY ts, id), lambda a, x:"
                            + " {'v': a.v + (1 - exp(-ln(2) * (x.t - a.t) / 300)) * (x.v - a.v), 't': x.t}).v FROM taxis WHERE vehicle % 5 = 0");
            data.assertStands(
                    "ways",
                    "SELECT vehicle, round(sum(way)) AS metres, increase(id, ts) AS grown, time_weighted_avg(speed, ts) AS speed FROM (SELECT *, "
                            + WAY
                            + " AS way FROM taxis WINDOW w AS (PARTITION BY vehicle ORDER BY ts, id)) AS t GROUP BY vehicle",
                    "SELECT vehicle, round(sum(" + DUCK_WAY
                            + ")), sum(CASE WHEN id >= pid THEN id - pid ELSE id END) FILTER (WHERE pid IS NOT NULL),"
                            + " sum(speed * (nt - epoch(ts))) / sum(nt - epoch(ts)) FROM (SELECT *, lag(lat) OVER w AS plat,"
                            + " lag(lon) OVER w AS plon, lag(id) OVER w AS pid, lead(epoch(ts)) OVER v AS nt FROM taxis WINDOW w AS (PARTITION BY vehicle ORDER BY ts, id),"
                            + " v AS (PARTITION BY vehicle ORDER BY ts, speed)) GROUP BY vehicle");
        }
    }
}
