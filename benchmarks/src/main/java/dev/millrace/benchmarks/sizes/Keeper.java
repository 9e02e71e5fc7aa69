package dev.millrace.benchmarks.sizes;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Something that keeps keys or rows.
 *
 * @param what it is, and what a unit of it is
 * @param made the statements that make it; a query is called q
 * @param filled a statement, or several, for the keys from {@code %1$d} to {@code %2$d}
 * @param every one of so many keys has one
 * @param onDisk what to ask for its bytes on disk, of a database with a directory; empty for what is in memory
 */
record Keeper(String what, String per, List<String> made, List<String> filled, int every, Optional<String> onDisk) {
    private static final String SEGMENTS = "SELECT CAST(sum(bytes) AS bigint) FROM millrace.segments";
    private static final String RETAINED =
            "CREATE STREAM s (device BIGINT, ts TIMESTAMP, v DOUBLE PRECISION, WATERMARK FOR ts AS ts) WITH (retention = 'forever'";

    /** About a reading of each device a second, with one digit behind the point, that goes up and down. */
    private static final String READINGS =
            "INSERT INTO s SELECT i %% 1000, TIMESTAMP '2026-01-01' + (i / 1000 + random()) * INTERVAL '1 second',"
                    + " CAST(round(CAST(20 + 5 * sin(i / 100000.0) + random() AS numeric), 1) AS double precision) FROM generate_series(%1$d, %2$d) AS g(i)";

    private static final String COLUMNS = " (device BIGINT, name TEXT, ts TIMESTAMP, v DOUBLE PRECISION";
    private static final String OPEN = "CREATE STREAM s" + COLUMNS + ", WATERMARK FOR ts AS ts - INTERVAL '1 hour')";
    private static final String OTHER = OPEN.replace("STREAM s", "STREAM r");
    private static final String PLAIN = "CREATE STREAM s" + COLUMNS + ")";
    private static final String CLOSING = "CREATE STREAM s" + COLUMNS + ", WATERMARK FOR ts AS ts)";
    private static final String TABLE = "CREATE TABLE s" + COLUMNS + ")";

    /** A row of each key, all within a minute, times in the order of keys. */
    private static final String ROWS =
            "SELECT i, 'device-' || i, TIMESTAMP '2026-01-01' + i * INTERVAL '100 microseconds', i %% 100"
                    + " FROM generate_series(%1$d, %2$d) AS g(i)";

    private static final String INTO = "INSERT INTO s " + ROWS;
    private static final String INTO_OTHER = "INSERT INTO r " + ROWS;

    static List<Keeper> all() {
        return List.of(
                query(
                        "GROUP BY a number: count(*), avg(v)",
                        "key",
                        OPEN,
                        "SELECT device, count(*) AS n, avg(v) AS a FROM s GROUP BY device"),
                query(
                        "GROUP BY a text of 12 bytes: count(*), avg(v)",
                        "key",
                        OPEN,
                        "SELECT name, count(*) AS n, avg(v) AS a FROM s GROUP BY name"),
                query("SELECT DISTINCT of a number", "key", OPEN, "SELECT DISTINCT device FROM s"),
                query(
                        "count(DISTINCT number) of ten groups",
                        "value",
                        OPEN,
                        "SELECT device % 10 AS g, count(DISTINCT device) AS n FROM s GROUP BY 1"),
                query(
                        "median(v), of ten groups",
                        "value",
                        OPEN,
                        "SELECT device % 10 AS g, median(v + device) AS m FROM s GROUP BY 1"),
                query(
                        "TUMBLE: count(*), avg(v)",
                        "key and open window",
                        OPEN,
                        "SELECT device, count(*) AS n, avg(v) AS a FROM TUMBLE(s, ts, '1 hour') GROUP BY device, window_start, window_end"),
                query(
                        "HOP, slid six times: count(*), avg(v)",
                        "key and open slide",
                        OPEN,
                        "SELECT device, count(*) AS n, avg(v) AS a FROM HOP(s, ts, '10 minutes', '1 hour') GROUP BY device, window_start, window_end"),
                query(
                        "SESSION: count(*), avg(v)",
                        "open session",
                        OPEN,
                        "SELECT device, count(*) AS n, avg(v) AS a FROM SESSION(s PARTITION BY device, ts, '1 minute') GROUP BY device, window_start, window_end"),
                query(
                        "time_bucket_gapfill of windows: locf(avg(v))",
                        "key",
                        CLOSING,
                        "SELECT time_bucket_gapfill('1 millisecond', window_start) AS b, device, locf(avg(v)) AS a FROM TUMBLE(s, ts, '1 millisecond') GROUP BY b, window_end, device EMIT ON WINDOW CLOSE"),
                query(
                        "OVER by the watermark: lag(v)",
                        "key",
                        CLOSING,
                        "SELECT device, lag(v) OVER (PARTITION BY device ORDER BY ts) AS l FROM s EMIT ON WINDOW CLOSE"),
                query(
                        "OVER by the watermark: ema(v, 0.1)",
                        "key",
                        CLOSING,
                        "SELECT device, ema(v, 0.1) OVER (PARTITION BY device ORDER BY ts) AS e FROM s EMIT ON WINDOW CLOSE"),
                query(
                        "OVER of all rows: sum(v)",
                        "row",
                        PLAIN,
                        "SELECT device, sum(v) OVER (PARTITION BY device % 1000 ORDER BY ts) AS t FROM s"),
                query(
                        "the first three of a key",
                        "kept row",
                        PLAIN,
                        "SELECT * FROM s QUALIFY row_number() OVER (PARTITION BY device ORDER BY v DESC) <= 3"),
                query(
                        "the first of a key (deduplication)",
                        "key",
                        PLAIN,
                        "SELECT * FROM s QUALIFY row_number() OVER (PARTITION BY device ORDER BY ts) = 1"),
                join("inner join of streams", "SELECT s.v, r.v AS w FROM s JOIN r ON s.device = r.device"),
                join("LEFT JOIN of streams", "SELECT s.v, r.v AS w FROM s LEFT JOIN r ON s.device = r.device"),
                join(
                        "interval join of streams",
                        "SELECT s.v, r.v AS w FROM s JOIN r ON s.device = r.device AND r.ts BETWEEN s.ts - INTERVAL '1 minute' AND s.ts + INTERVAL '1 minute'"),
                memory(
                        "MATERIALIZED VIEW of three columns",
                        "row",
                        List.of(OPEN, "CREATE MATERIALIZED VIEW q AS SELECT device, ts, v FROM s"),
                        INTO),
                memory("table of four columns", "row", List.of(TABLE), INTO),
                memory(
                        "table with a PRIMARY KEY of a number",
                        "row",
                        List.of(TABLE.replace("BIGINT", "BIGINT PRIMARY KEY")),
                        INTO),
                memory("table with an index of a text", "row", List.of(TABLE, "CREATE INDEX i ON s (name)"), INTO),
                new Keeper(
                        "query that shares what runs it",
                        "query",
                        List.of(OPEN),
                        List.of("CREATE CONTINUOUS QUERY q%1$d AS SELECT ts, v FROM s WHERE device = %1$d AND v > 5"),
                        100,
                        Optional.empty()),
                disk("retained stream, exact", List.of(RETAINED + ")"), READINGS, SEGMENTS),
                disk(
                        "changes that a durable subscription waits for",
                        List.of(
                                OPEN,
                                "CREATE MATERIALIZED VIEW q AS SELECT device, ts, v FROM s",
                                "CREATE SUBSCRIPTION u FROM q WITH (limit = '2GB')"),
                        INTO,
                        "SELECT waiting_bytes FROM millrace.subscriptions"));
    }

    private static Keeper memory(String what, String per, List<String> made, String filled) {
        return new Keeper(what, per, made, List.of(filled), 1, Optional.empty());
    }

    private static Keeper disk(String what, List<String> made, String filled, String bytes) {
        return new Keeper(what, "row", made, List.of(filled), 1, Optional.of(bytes));
    }

    private static Keeper query(String what, String per, String relation, String query) {
        return new Keeper(what, per, List.of(relation, sink(query)), List.of(INTO), 1, Optional.empty());
    }

    /** Two rows of a key. */
    private static Keeper join(String what, String query) {
        return new Keeper(
                what, "row", List.of(OPEN, OTHER, sink(query)), List.of(INTO, INTO_OTHER), 1, Optional.empty());
    }

    private static String sink(String query) {
        return "CREATE SINK q WITH (connector = 'blackhole') AS " + query;
    }

    /** The statements for some keys; of those that make something for each key one by one. */
    Stream<String> filling(long from, long to) {
        return every == 1
                ? filled.stream().map(text -> String.format(Locale.ROOT, text, from, to))
                : LongStream.rangeClosed(from, to)
                        .filter(key -> key % every == 0)
                        .mapToObj(key -> String.format(Locale.ROOT, filled.get(0), key));
    }

    /** How many there are for so many keys. */
    long count(long keys) {
        return keys * filled.size() / every;
    }
}
