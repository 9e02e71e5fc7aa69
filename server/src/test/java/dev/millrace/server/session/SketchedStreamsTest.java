package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.operation.DirectoryVerification;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Streams whose old rows are sketches, as SQL has them. */
@Tag("long")
class SketchedStreamsTest {
    private static final String STREAM = """
            CREATE STREAM s (device TEXT, at TIMESTAMPTZ, temp DOUBLE PRECISION, note TEXT,
                WATERMARK FOR at AS at - INTERVAL '1 second')
            WITH (retention = '30 days', retention.form = 'sketch', sketch.key = 'device', sketch.error.temp = '0.5 abs',
                sketch.segment = '1ms')""";
    private static final String FAR =
            "SELECT count(*) FROM s JOIN e ON e.note = s.note WHERE s.device IS DISTINCT FROM e.device"
                    + " OR s.at IS DISTINCT FROM e.at OR abs(s.temp - e.temp) > 0.5 OR (s.temp IS NULL) <> (e.temp IS NULL)";

    @TempDir
    Path folder;

    private TestDatabase open() {
        return new TestDatabase(folder.resolve("data"));
    }

    /** Rows of three devices, and the same in a table. */
    private static void insert(TestDatabase database, int from, int to) {
        String rows = "SELECT 'd' || g % 3, '2026-01-01'::timestamptz + g * INTERVAL '1 second',"
                + " CASE WHEN g % 17 > 0 THEN 20 + 5 * sin(g / 50.0) + g % 3 END, 'note ' || g || ' ' || md5(g::text)"
                + " FROM generate_series(" + from + ", " + to + ") g";
        database.run("INSERT INTO s " + rows);
        database.run("INSERT INTO e " + rows);
    }

    private static void awaitSketched(TestDatabase database) {
        database.run("CHECKPOINT");
        Eventually.holds(
                "all is sketched",
                () -> !database.rows("SELECT 1 FROM millrace.segments WHERE stream = 's' AND form = 'sketch'")
                                .isEmpty()
                        && database.rows("SELECT 1 FROM millrace.segments WHERE stream = 's' AND form = 'exact'")
                                .isEmpty());
    }

    private static void assertAll(TestDatabase database, int rows) {
        assertEquals(List.of(rows + "|" + rows), database.rows("SELECT count(*), count(DISTINCT note) FROM s"));
        assertEquals(List.of("" + rows), database.rows("SELECT count(*) FROM s JOIN e ON e.note = s.note"));
        assertEquals(List.of("0"), database.rows(FAR));
    }

    private Path killed(String name) {
        return DirectoryImage.copy(folder.resolve("data"), folder.resolve(name));
    }

    @Test
    void oldRowsAreWithinTheirBoundsWhateverHappensToTheDatabase() throws IOException {
        Path image;
        Path backup = folder.resolve("backup");
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE e (device TEXT, at TIMESTAMPTZ, temp DOUBLE PRECISION, note TEXT)");
            database.run(STREAM);
            database.run(
                    "CREATE MATERIALIZED VIEW live AS SELECT device, count(*) AS n, sum(temp) AS t FROM s GROUP BY device");
            insert(database, 1, 3000);
            insert(database, 3001, 5000);
            awaitSketched(database);
            assertEquals(
                    database.rows("SELECT device, count(*), sum(temp) FROM e GROUP BY device"),
                    database.rows("SELECT * FROM live"),
                    "standing queries have rows as they came");
            assertAll(database, 5000);
            assertTrue(
                    !database.rows("SELECT 1 FROM s JOIN e ON e.note = s.note WHERE s.temp <> e.temp LIMIT 1")
                            .isEmpty(),
                    "they are sketched");
            assertEquals(
                    database.rows(
                            "SELECT device, count(*), count(temp), min(at), max(at) FROM e WHERE device = 'd1' GROUP BY 1"),
                    database.rows(
                            "SELECT device, count(*), count(temp), min(at), max(at) FROM s WHERE device = 'd1' GROUP BY 1"));
            insert(database, 5001, 5100);
            assertAll(database, 5100);
            image = killed("image");
            database.run("BACKUP TO '" + backup + "'");
        }
        for (Path data : List.of(image, folder.resolve("data"))) {
            assertEquals(
                    List.of(),
                    DirectoryVerification.run(data).files().stream()
                            .filter(file -> !file.isWhole() || !file.known())
                            .toList());
            try (TestDatabase again = new TestDatabase(data)) {
                assertAll(again, 5100);
                insert(again, 5101, 8000);
                insert(again, 8001, 9000);
                awaitSketched(again);
                assertAll(again, 9000);
            }
        }
    }

    @Test
    void whatColumnsCostAndWhyIsSaid() {
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE e (device TEXT, at TIMESTAMPTZ, temp DOUBLE PRECISION, note TEXT)");
            database.run(
                    STREAM + "; CREATE STREAM x (k BIGINT) WITH (retention = 'forever'); INSERT INTO x VALUES (1)");
            insert(database, 1, 3000);
            insert(database, 3001, 5000);
            awaitSketched(database);
            assertEquals(
                    List.of(
                            "#arrival|exact|0|when rows came",
                            "#entry|exact|0|which rows were accepted together",
                            "#series|exact|0|which series each row is of",
                            "#sketch|exact|0|what sketches have that is of no column",
                            "at|sketch|0|the time of the sketches, which is exact",
                            "device|key|0|sketch.key: once for each series",
                            "note|exact|0|long texts, or such as hardly repeat",
                            "temp|sketch|0.5|sketch.error.temp"),
                    database.rows("SELECT column_name, form, round(error::numeric, 1)::float, why FROM"
                            + " millrace.segment_columns WHERE stream = 's' ORDER BY 1"));
            assertEquals(
                    List.of("t|t|t|t"),
                    database.rows(
                            "SELECT bool_and(rows = 5000), max(bytes) FILTER (WHERE column_name = 'temp') BETWEEN 100 AND 9999,"
                                    + " max(bytes) FILTER (WHERE column_name = 'note') > 100000,"
                                    + " sum(bytes) BETWEEN 0.9 * (SELECT sum(bytes) FROM millrace.segments WHERE stream = 's')"
                                    + " AND (SELECT sum(bytes) FROM millrace.segments WHERE stream = 's')"
                                    + " FROM millrace.segment_columns WHERE stream = 's'"));
            assertEquals(
                    List.of("k|exact|1|retention.form = 'exact'"),
                    database.rows("SELECT column_name, form, rows, why FROM millrace.segment_columns"
                            + " WHERE stream = 'x' AND column_name NOT LIKE '#%'"));
        }
    }

    @Test
    void aQueryThatBeginsInThePastGoesOnFromItsCheckpoint() throws IOException {
        Path image;
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE e (device TEXT, at TIMESTAMPTZ, temp DOUBLE PRECISION, note TEXT)");
            database.run(STREAM);
            insert(database, 1, 2000);
            insert(database, 2001, 4000);
            awaitSketched(database);
            database.run("CREATE MATERIALIZED VIEW v WITH (start = 'earliest') AS"
                    + " SELECT device, count(*) AS n, count(DISTINCT note) AS d FROM s GROUP BY device");
            assertEquals(
                    database.rows("SELECT device, count(*), count(DISTINCT note) FROM e GROUP BY device"),
                    database.rows("SELECT * FROM v"));
            insert(database, 4001, 4250);
            insert(database, 4251, 4500);
            awaitSketched(database);
            image = killed("image");
        }
        try (TestDatabase again = new TestDatabase(image)) {
            insert(again, 4501, 5000);
            assertEquals(
                    again.rows("SELECT device, count(*), count(DISTINCT note) FROM e GROUP BY device"),
                    again.rows("SELECT * FROM v"));
        }
    }

    @Test
    void optionsThatDoNotFitAreRefused() {
        try (TestDatabase database = open()) {
            String columns =
                    "CREATE STREAM w (k TEXT, v DOUBLE PRECISION, at TIMESTAMP, tags TEXT[], WATERMARK FOR at AS at) WITH (";
            String sketch = columns + "retention = '1 day', retention.form = 'sketch', ";
            for (List<String> wrong : List.of(
                    List.of(
                            columns + "retention.form = 'sketch')",
                            "22023 option \"retention.form\" cannot be \"sketch\""),
                    List.of(
                            columns + "retention = '1 day', sketch.error = 0.1)",
                            "22023 option \"sketch.error\" is about"),
                    List.of(sketch + "sketch.error = 'much')", "22023 option \"sketch.error\" cannot be \"much\""),
                    List.of(sketch + "sketch.error = 1.5)", "22023 option \"sketch.error\" cannot be"),
                    List.of(sketch + "sketch.error = '-1 abs')", "22023 option \"sketch.error\" cannot be"),
                    List.of(
                            sketch + "sketch.error.w = 0.1)",
                            "42703 option \"sketch.error.w\": column \"w\" does not exist"),
                    List.of(
                            sketch + "sketch.error.k = 0.1)",
                            "22023 option \"sketch.error.k\" is about a column of type text"),
                    List.of(sketch + "sketch.key = 'device')", "42703 option \"sketch.key\": column \"device\""),
                    List.of(sketch + "sketch.key = 'k, k')", "42701 option \"sketch.key\" names column \"k\" twice"),
                    List.of(sketch + "sketch.key = 'at')", "22023 option \"sketch.key\" cannot name column \"at\""),
                    List.of(sketch + "sketch.key = 'tags')", "22023 option \"sketch.key\" cannot name column \"tags\""),
                    List.of(
                            sketch + "sketch.key = 'v', sketch.error.v = 0.1)",
                            "22023 option \"sketch.error.v\" is about a column of"),
                    List.of(sketch + "sketch.segment = '0s')", "22023 option \"sketch.segment\" cannot be"),
                    List.of(sketch + "sketch.keys = 'k')", "22023 option \"sketch.keys\" does not exist"))) {
                String error = database.error(wrong.get(0));
                assertTrue(error.startsWith(wrong.get(1)), wrong.get(0) + ": " + error);
            }
            assertTrue(database.error("CREATE STREAM w (v REAL) WITH (retention = '1 day', retention.form = 'sketch',"
                            + " sketch.time_error = '1ms')")
                    .startsWith("22023 option \"sketch.time_error\""));
            database.run(columns
                    + "retention = 'forever', retention.form = 'sketch', sketch.key = 'k', sketch.error = 0.025,"
                    + " sketch.error.v = '0.1 abs', sketch.time_error = '1ms', sketch.segment = '60s')");
            String shown = database.rows("SHOW CREATE STREAM w").get(0);
            assertTrue(
                    shown.contains("retention.form = 'sketch'") && shown.contains("sketch.error.v = '0.1 abs'"), shown);
        }
    }
}
