package dev.millrace.server.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.session.TestDatabase;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * An hour of two streams, whose keys come and go, through what promises to forget: the state bytes that
 * {@code millrace.operator_stats} shows stay what they were after ten minutes.
 */
@Tag("long")
class BoundedStateTest {
    private static final int MINUTES = 60;
    private static final int ROWS_PER_MINUTE = 300;
    private static final int WARM_UP_MINUTES = 15;
    private static final long CHUNK_BYTES =
            128 << 10; // memory is taken in pieces, by each side of a join: up to so much

    private TestDatabase db;

    @BeforeEach
    void open() {
        db = new TestDatabase(2);
        for (String stream : List.of("s", "r")) {
            db.run("CREATE STREAM " + stream
                    + " (k BIGINT, ts TIMESTAMP NOT NULL, v BIGINT, WATERMARK FOR ts AS ts - INTERVAL '1 second')");
        }
        db.run("CREATE TABLE names (v BIGINT PRIMARY KEY, name TEXT)");
        db.run("INSERT INTO names VALUES (0, 'none'), (1, 'one'), (2, 'two')");
        db.run(
                "CREATE TABLE prices (v BIGINT PRIMARY KEY, price BIGINT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts AS ts)");
        db.run("FLUSH");
    }

    @AfterEach
    void close() {
        db.close();
    }

    /** A minute of both streams: a key lives for ten seconds. */
    private void feed(int minute) {
        int first = minute * ROWS_PER_MINUTE;
        for (String stream : List.of("s", "r")) {
            db.run("INSERT INTO " + stream + " SELECT i / 50, TIMESTAMP '2024-01-01' + i * INTERVAL '200 milliseconds',"
                    + " i * 7919 % 101 FROM generate_series(" + first + ", " + (first + ROWS_PER_MINUTE - 1)
                    + ") AS g(i)");
        }
        db.run("INSERT INTO prices SELECT i, " + minute + " + i, TIMESTAMP '2024-01-01' + " + minute
                + " * INTERVAL '1 minute' + i * INTERVAL '300 milliseconds' FROM generate_series(0, 199) AS g(i)"
                + " ON CONFLICT (v) DO UPDATE SET price = EXCLUDED.price, ts = EXCLUDED.ts");
        db.run("DELETE FROM prices WHERE v % 10 = " + minute % 10);
        db.run("FLUSH");
    }

    /** After each minute of the hour, the state bytes by operator. */
    private List<Map<String, Long>> hour() {
        List<Map<String, Long>> minutes = new ArrayList<>();
        for (int minute = 0; minute < MINUTES; minute++) {
            feed(minute);
            Map<String, Long> bytes = new HashMap<>();
            db.rows("SELECT name, sum(state_bytes) FROM millrace.operator_stats WHERE state_bytes > 0 GROUP BY name")
                    .forEach(row -> bytes.put(
                            row.substring(0, row.indexOf('|')), Long.valueOf(row.substring(row.indexOf('|') + 1))));
            minutes.add(bytes);
        }
        return minutes;
    }

    private static long most(List<Map<String, Long>> minutes, String operator) {
        return minutes.stream()
                .mapToLong(bytes -> bytes.getOrDefault(operator, 0L))
                .max()
                .orElseThrow();
    }

    private void requireFlat(String operator, List<Map<String, Long>> minutes) {
        long early = most(minutes.subList(0, WARM_UP_MINUTES), operator);
        long late = most(minutes.subList(WARM_UP_MINUTES, MINUTES), operator);
        assertTrue(early > 0, operator + " reports no state: " + minutes.get(0));
        assertTrue(
                late <= early + Math.max(early / 5, CHUNK_BYTES),
                operator + " grew from " + early + " to " + late + " bytes");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "interval join; Join; SELECT s.k, r.v FROM s JOIN r ON s.k = r.k AND r.ts BETWEEN s.ts - INTERVAL '5 seconds' AND"
                        + " s.ts + INTERVAL '5 seconds'",
                "outer interval join; Join; SELECT s.k, r.v FROM s LEFT JOIN r ON s.k = r.k AND r.v = s.v + 1 AND r.ts BETWEEN s.ts"
                        + " AND s.ts + INTERVAL '10 seconds'",
                "window join; Join; SELECT a.k, b.v FROM TUMBLE(s, ts, INTERVAL '10 seconds') a JOIN TUMBLE(r, ts, INTERVAL '10"
                        + " seconds') b ON a.k = b.k AND a.window_start = b.window_start AND a.window_end = b.window_end",
                "tumbling windows; WindowAggregate; SELECT k, window_end, count(*), sum(v) FROM TUMBLE(s, ts, INTERVAL '10 seconds')"
                        + " GROUP BY k, window_start, window_end",
                "hopping windows; WindowAggregate; SELECT k, window_end, count(DISTINCT v), max(v) FROM HOP(s, ts, INTERVAL '5"
                        + " seconds', INTERVAL '30 seconds') GROUP BY k, window_start, window_end",
                "sessions; WindowAggregate; SELECT k, window_end, count(*), string_agg(v::text, ',') FROM SESSION(TABLE s PARTITION"
                        + " BY k, DESCRIPTOR(ts), INTERVAL '5 seconds') GROUP BY k, window_start, window_end",
                "range frames; Over; SELECT k, sum(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '20 seconds' PRECEDING"
                        + " AND CURRENT ROW) AS t FROM s EMIT ON WINDOW CLOSE",
                "row frames; Over; SELECT v, sum(k) OVER (PARTITION BY v ORDER BY ts ROWS 3 PRECEDING) AS t FROM s EMIT ON WINDOW CLOSE",
                "averages and numbers; Over; SELECT v, ema(k, 0.5) OVER w, locf(k) OVER w, row_number() OVER w, rank() OVER w, lag(k) OVER w"
                        + " FROM s WINDOW w AS (PARTITION BY v ORDER BY ts) EMIT ON WINDOW CLOSE",
                "buckets without rows; Over; SELECT time_bucket_gapfill('10 seconds', window_start) AS b, v, locf(sum(k)) FROM TUMBLE(s, ts,"
                        + " INTERVAL '10 seconds') GROUP BY b, window_end, v EMIT ON WINDOW CLOSE",
                "row patterns; Match; SELECT * FROM s MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES a.v AS x, LAST(b.v) AS y"
                        + " PATTERN (a b+ c) WITHIN INTERVAL '10 seconds' DEFINE b AS b.v > a.v, c AS c.v < a.v)",
                "temporal join; Join; SELECT s.k, r.v FROM s JOIN r FOR SYSTEM_TIME AS OF s.ts AS r ON s.v = r.v",
                "versions of a table; Join; SELECT s.k, p.price FROM s LEFT JOIN prices FOR SYSTEM_TIME AS OF s.ts AS p ON s.v ="
                        + " p.v",
                "lookup join; Join; SELECT s.k, n.name FROM s JOIN names FOR SYSTEM_TIME AS OF s.ts AS n ON s.v = n.v",
                "windows over a lookup join; WindowAggregate; SELECT n.name, window_end, count(*) FROM TUMBLE(TABLE s,"
                        + " DESCRIPTOR(ts), INTERVAL '10 seconds') s JOIN names FOR SYSTEM_TIME AS OF s.ts AS n ON s.v = n.v GROUP"
                        + " BY n.name, window_start, window_end",
                "top of windows; TopN; SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY window_start, window_end ORDER BY"
                        + " v DESC) AS place FROM TUMBLE(s, ts, INTERVAL '10 seconds')) AS ranked WHERE place <= 3",
            })
    void stateOfWhatForgetsByTimeStaysFlat(String name, String operator, String sql) {
        db.run("CREATE CONTINUOUS QUERY q AS " + sql);
        requireFlat(operator, hour());
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "join; Join; SELECT s.k, r.v FROM s JOIN r ON s.k = r.k",
                "outer join; Join; SELECT s.k, r.v FROM s FULL JOIN r ON s.k = r.k AND s.v = r.v",
                "join with a table; Join; SELECT s.k, n.name FROM s JOIN names n ON s.v = n.v",
                "groups; Aggregate; SELECT k, count(*) AS n, max(v) AS m, count(DISTINCT v) AS d FROM s GROUP BY k",
                "distinct; Aggregate; SELECT DISTINCT k FROM s",
                "latest; TopN; SELECT * FROM s QUALIFY row_number() OVER (PARTITION BY k ORDER BY ts DESC) = 1",
                "ranking; TopN; SELECT * FROM s QUALIFY rank() OVER (PARTITION BY k ORDER BY v) <= 3",
            })
    void stateTtlKeepsStateFlat(String name, String operator, String sql) {
        db.run("CREATE CONTINUOUS QUERY q WITH (state_ttl = '30 seconds') AS " + sql);
        requireFlat(operator, hour());
        String forgotten = "SELECT sum(forgotten) > 100 FROM millrace.operator_stats WHERE query = 'q'";
        assertEquals(List.of("t"), db.rows(forgotten));
    }

    /** The measure sees growth where there is some: what EXPLAIN says. */
    @Test
    void aRegularJoinGrowsAsExplainSays() {
        db.run("CREATE CONTINUOUS QUERY q AS SELECT s.k, r.v FROM s JOIN r ON s.k = r.k");
        List<String> plan = db.rows("EXPLAIN CREATE CONTINUOUS QUERY x AS SELECT s.k, r.v FROM s JOIN r ON s.k = r.k");
        Optional<String> says = plan.stream()
                .filter(line -> line.contains("grows with every row of s and r"))
                .findFirst();
        assertTrue(says.isPresent(), plan::toString);
        List<Map<String, Long>> minutes = hour();
        long early = most(minutes.subList(0, WARM_UP_MINUTES), "Join");
        assertTrue(most(minutes, "Join") > 2 * early, () -> minutes.toString());
    }
}
