package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.session.TestDatabase;
import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What psql's {@code \d+} says of streams that keep their rows, and of queries that run at the edge. */
@Tag("long")
@Timeout(120)
class PsqlDescriptionsTest {
    @TempDir
    private Path folder;

    private static void assertFinds(String expression, String text) {
        assertTrue(Pattern.compile(expression, Pattern.MULTILINE).matcher(text).find(), text);
    }

    @Test
    void columnsOfAStreamSayWhatTheyCostAndWhy() throws Exception {
        PsqlTest.assumePsql();
        try (TestDatabase database = new TestDatabase(folder);
                PgServer server = PgServer.listen(database.database(), PgServerOptions.local(0))) {
            database.run(
                    "CREATE STREAM s (device TEXT, at TIMESTAMPTZ, temp DOUBLE PRECISION, id BIGINT, WATERMARK FOR at"
                            + " AS at) WITH (retention = '30 days', retention.form = 'sketch', sketch.key = 'device',"
                            + " sketch.error.temp = '0.5 abs', sketch.segment = '1ms'); CREATE STREAM x (n BIGINT) WITH"
                            + " (retention = '1 GB'); CREATE STREAM none (n BIGINT)");
            assertFinds(
                    "^temp\\|.*\\|retention\\.form sketch, no segment yet$",
                    PsqlTest.psql(server.port(), "-A", "\\d+ s"));
            database.run("INSERT INTO x SELECT * FROM generate_series(1, 1000); CHECKPOINT");
            for (String of : List.of("1, 3000", "3001, 5000")) { // that arrivals span a millisecond
                database.run("INSERT INTO s SELECT 'd' || g % 3, '2026-01-01'::timestamptz + g * INTERVAL '1 second',"
                        + " sin(g), g FROM generate_series(" + of + ") g");
            }
            database.run("CHECKPOINT");
            Eventually.holds(
                    "all is sketched",
                    () -> database.rows("SELECT DISTINCT form FROM millrace.segments WHERE stream = 's'")
                            .toString()
                            .equals("[sketch]"));
            String bits = "[0-9.]+ bits a row";
            String columns = PsqlTest.psql(server.port(), "-A", "\\d+ s");
            assertFinds("^device\\|text\\|.*\\|key, " + bits + " \\(sketch.key: once for each series\\)$", columns);
            assertFinds("^at\\|.*\\|sketch, " + bits + " \\(the time of the sketches, which is exact\\)$", columns);
            assertFinds("^temp\\|.*\\|sketch, " + bits + ", off by 0.5 at most \\(sketch.error.temp\\)$", columns);
            assertFinds(
                    "^id\\|.*\\|exact, " + bits + " \\(it may be an identifier; sketch.error.id says .*\\)$", columns);
            assertFinds(
                    "^n\\|.*\\|exact, " + bits + " \\(retention.form = 'exact'\\)$",
                    PsqlTest.psql(server.port(), "-A", "\\d+ x"));
            assertFinds("^n\\|bigint\\|{4}plain\\|{3}$", PsqlTest.psql(server.port(), "-A", "\\d+ none"));
            assertFinds(
                    "retention 30 days, sketch; 5000 rows in \\d+ segments, \\d+ bytes",
                    PsqlTest.psql(server.port(), "-A", "\\dt+ s"));
        }
    }

    @Test
    void commentsAreShownBeforeWhatTheSystemSays() throws Exception {
        PsqlTest.assumePsql();
        try (TestDatabase database = new TestDatabase(folder);
                PgServer server = PgServer.listen(database.database(), PgServerOptions.local(0))) {
            database.run(
                    "CREATE STREAM s (n BIGINT, m BIGINT) WITH (retention = '1 GB'); CREATE TABLE t (a INT PRIMARY KEY, b INT"
                            + " CONSTRAINT positive CHECK (b > 0)); CREATE VIEW v AS SELECT a FROM t; CREATE FUNCTION f(n INT)"
                            + " RETURNS INT LANGUAGE SQL AS 'n'; CREATE INDEX i ON t (b); CREATE SCHEMA shop; CREATE ROLE clerk");
            for (String comment : List.of(
                    "STREAM s IS 'a stream'",
                    "COLUMN s.n IS 'a number'",
                    "TABLE t IS 'a table'",
                    "COLUMN t.b IS 'b, of a table'",
                    "VIEW v IS 'a view'",
                    "FUNCTION f IS 'a function'",
                    "INDEX i IS 'an index'",
                    "CONSTRAINT positive ON t IS 'a constraint'",
                    "SCHEMA shop IS 'a schema'",
                    "ROLE clerk IS 'a role'",
                    "DATABASE millrace IS 'a database'")) {
                database.run("COMMENT ON " + comment);
            }
            assertFinds("\\|a stream\nretention 1 GB, exact; no segment yet$", psql(server, "\\dt+ s"));
            assertFinds("^n\\|.*\\|a number\nretention.form exact, no segment yet$", psql(server, "\\d+ s"));
            assertFinds("^m\\|.*\\|retention.form exact, no segment yet$", psql(server, "\\d+ s"));
            assertFinds("\\|a table$", psql(server, "\\dt+ t"));
            assertFinds("^b\\|.*\\|b, of a table$", psql(server, "\\d+ t"));
            assertFinds("^public\\|v\\|.*\\|a view$", psql(server, "\\dv+"));
            assertFinds("^public\\|f\\|.*\\|a function$", psql(server, "\\df+ f"));
            assertFinds("^public\\|i\\|.*\\|an index$", psql(server, "\\di+ i"));
            assertFinds("^shop\\|.*\\|a schema$", psql(server, "\\dn+"));
            assertFinds("^public\\|positive\\|table constraint\\|a constraint$", psql(server, "\\dd"));
            assertFinds("^clerk\\|.*\\|a role$", psql(server, "\\du+"));
            assertFinds("^millrace\\|.*\\|a database$", psql(server, "\\l+"));
        }
    }

    private static String psql(PgServer server, String command) throws Exception {
        return PsqlTest.psql(server.port(), "-A", command);
    }

    @Test
    void aQuerySaysWhatOfItRunsWhere() throws Exception {
        PsqlTest.assumePsql();
        try (TestDatabase database = new TestDatabase(folder);
                PgServer server = PgServer.listen(database.database(), PgServerOptions.local(0))) {
            String windows = "SELECT machine, window_start, max(temp) AS most FROM TUMBLE(TABLE boiler, DESCRIPTOR(ts),"
                    + " INTERVAL '1 minute') WHERE temp > 80 GROUP BY machine, window_start, window_end";
            database.run(
                    "CREATE STREAM boiler (ts TIMESTAMP, machine TEXT, temp DOUBLE PRECISION, note TEXT, WATERMARK FOR"
                            + " ts AS ts - INTERVAL '5 seconds') WITH (connector = 'edge')");
            database.run("CREATE MATERIALIZED VIEW hot WITH (run_at = 'edge') AS " + windows);
            database.run(
                    "CREATE CONTINUOUS QUERY warm WITH (run_at = 'edge') AS SELECT machine FROM boiler WHERE temp > 50 AND"
                            + " note LIKE 'x%'");
            database.run("CREATE MATERIALIZED VIEW here AS SELECT count(*) AS n FROM boiler");
            String hot = PsqlTest.psql(server.port(), "-A", "\\d+ hot");
            assertTrue(hot.contains("""
                            View definition:
                            -- at the edge, of each row of boiler: whether (temp > 80.0); windows of 60000000 us of ts, by (machine): count, max(temp)
                            -- at the server: the sum of what devices made, and of rows that count in none of it; what is above
                            """ + windows + ";\n"), hot);
            assertFinds("at the edge, of each row of boiler", PsqlTest.psql(server.port(), "-A", "\\dm+ hot"));
            String warm = PsqlTest.psql(server.port(), "-A", "\\d+ warm");
            assertFinds(
                    "^-- at the edge, of each row of boiler: whether \\(temp > 50.0\\); columns machine, note, temp$",
                    warm);
            assertFinds("^-- at the server: the query, over the rows that come; not at the edge: .*like", warm);
            assertEquals(
                    windows + ";\n", PsqlTest.psql(server.port(), "-At", "SELECT pg_get_viewdef('hot'::regclass)"));
            assertTrue(!PsqlTest.psql(server.port(), "-A", "\\d+ here").contains("--"));
        }
    }
}
