package dev.millrace.cli.shell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.cli.format.ResultFormat;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Scripts: what goes where, and the exit code. */
class ScriptTest {
    private static final int COLUMNS = 80;

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(ResultFormat format, boolean keepGoing, String script) throws IOException {
        Streams streams = new Streams(out, new PrintWriter(err, true), false, false, false, () -> COLUMNS);
        ShellMode mode = new ShellMode(format, false, keepGoing, true, false);
        DatabaseOptions options = DatabaseOptions.defaults();
        try (Database database = Database.open(options);
                Session session = database.session();
                Shell shell = new Shell(session, options.clock(), streams, mode)) {
            return shell.runScript(new StringReader(script));
        }
    }

    @Test
    void resultsGoToOutAndTheRestToErr() throws IOException {
        int code = run(ResultFormat.CSV, false, """
                -- a comment
                CREATE STREAM s (k TEXT, n BIGINT);
                CREATE MATERIALIZED VIEW v AS
                  SELECT k, sum(n) AS total FROM s GROUP BY k;
                INSERT INTO s VALUES ('a;b', 1), ('a;b', 2);
                SELECT * FROM v;
                """);
        assertEquals(0, code);
        assertEquals("k,total\na;b,3\n", out.toString());
        assertEquals("CREATE STREAM\nCREATE MATERIALIZED VIEW\nINSERT 0 2\n", err.toString());
    }

    @Test
    void aSelectWaitsForFilesToTheirEnd() throws IOException {
        Path file = directory.resolve("n.csv");
        StringBuilder lines = new StringBuilder("n\n");
        for (int n = 1; n <= 200_000; n++) {
            lines.append(n).append('\n');
        }
        Files.writeString(file, lines);
        int code = run(ResultFormat.CSV, false, """
                CREATE STREAM f (n BIGINT) WITH (connector = 'file', path = '%s');
                CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n, max(n) AS most FROM f;
                SELECT * FROM v;""".formatted(file));
        assertEquals(0, code, err.toString());
        assertEquals("n,most\n200000,200000\n", out.toString());
    }

    @Test
    void aScriptStopsAtItsFirstError() throws IOException {
        assertEquals(1, run(ResultFormat.TABLE, false, "SELECT nothing;\nSELECT 'unreached';"));
        assertEquals("""
                ERROR:  42703: column "nothing" does not exist
                LINE 1: SELECT nothing
                               ^
                """, err.toString());
        assertEquals("", out.toString());
    }

    @Test
    void keepGoingGoesOnAndStillFails() throws IOException {
        assertEquals(1, run(ResultFormat.CSV, true, "SELECT nothing; SELECT 1 AS one;\nSELEC;\nSELECT 2 AS two"));
        assertEquals("one\n1\ntwo\n2\n", out.toString());
    }

    @Test
    void hintsAreShown() throws IOException {
        run(ResultFormat.TABLE, false, "CREATE STREAM s (total BIGINT);\n\nSELECT totl\nFROM s;");
        assertTrue(err.toString().endsWith("""
                ERROR:  42703: column "totl" does not exist
                LINE 1: SELECT totl
                               ^
                HINT:  did you mean "total"?
                """), err.toString());
    }

    @Test
    void backslashCommandsHaveLinesOfTheirOwn() throws IOException {
        Path included = directory.resolve("more.sql");
        Files.writeString(included, "SELECT 5 AS five;\n");
        int code = run(ResultFormat.TABLE, false, """
                CREATE STREAM s (k TEXT NOT NULL, n BIGINT);
                \\d s
                \\format csv
                \\i %s
                \\q
                SELECT 'unreached';
                """.formatted(included));
        assertEquals(0, code, err.toString());
        assertEquals("""
                Stream "s"
                 Column |  Type  | Nullable | Role\s
                --------+--------+----------+------
                 k      | text   | not null |\s
                 n      | bigint |          |\s
                Definition:
                    CREATE STREAM s (k TEXT NOT NULL, n BIGINT);

                five
                5
                """, out.toString());
    }

    @Test
    void whatHasAConnectorIsDescribedWithHowThatIs() throws Exception {
        String url = "jdbc:duckdb:" + directory.resolve("there.duckdb");
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE there (n BIGINT)");
        }
        int code = run(ResultFormat.TABLE, false, """
                CREATE STREAM s (n BIGINT);
                CREATE SINK o WITH (connector = 'jdbc', url = '%s', table = 'there') AS SELECT n FROM s;
                INSERT INTO s VALUES (1), (2);
                FLUSH;
                \\d o
                \\d+ o
                """.formatted(url));
        assertEquals(0, code, err.toString());
        String lines = "Connector: jdbc\n    table there of " + url + ": 0 records wait, 2 records written\n";
        int first = out.toString().indexOf(lines);
        assertTrue(first > 0 && out.toString().indexOf(lines, first + 1) > 0, out.toString());
    }

    @Test
    void whatOfAQueryRunsAtTheEdgeIsDescribed() throws IOException {
        int code = run(ResultFormat.TABLE, false, """
                CREATE STREAM s (ts TIMESTAMP, temp DOUBLE PRECISION) WITH (connector = 'edge');
                CREATE CONTINUOUS QUERY hot WITH (run_at = 'edge') AS SELECT ts FROM s WHERE temp > 80;
                \\d hot
                \\d+ hot
                """);
        assertEquals(0, code, err.toString());
        String lines = "Runs:\n    at the edge, of each row of s: whether (temp > 80.0); columns temp, ts\n"
                + "    at the server: the query, over the rows that come\n";
        int first = out.toString().indexOf(lines);
        assertTrue(first > 0 && out.toString().indexOf(lines, first + 1) < 0, out.toString());
    }

    @Test
    void unknownBackslashCommandsFailTheScript() throws IOException {
        assertEquals(1, run(ResultFormat.TABLE, false, "\\dvv\nSELECT 1;"));
        assertTrue(err.toString().contains("there is no command \\dvv"), err.toString());
        assertFalse(out.toString().contains("1 row"));
    }

    @Test
    void aFailureInAnIncludedFileStopsTheScript() throws IOException {
        assertEquals(1, run(ResultFormat.TABLE, false, "\\i " + directory.resolve("none.sql") + "\nSELECT 1;"));
        assertTrue(err.toString().startsWith("ERROR:  58P01: cannot read file"), err.toString());
    }

    @Test
    void aSubscriptionToSomethingFiniteIsWrittenAsLines() throws IOException {
        int code = run(ResultFormat.CSV, false, """
                CREATE STREAM g (n BIGINT) WITH (connector = 'datagen', rows = 2);
                SUBSCRIBE TO g;""");
        assertEquals(0, code, err.toString());
        String[] lines = out.toString().split("\n");
        assertEquals(3, lines.length, out.toString());
        assertEquals("op,epoch_time,n", lines[0]);
        assertTrue(lines[1].matches("\\+,\\d{4}-.*\\+00,.*"), lines[1]);
    }

    @Test
    void jsonAndNoticesDoNotMix() throws IOException {
        run(ResultFormat.JSON, false, "DROP STREAM IF EXISTS nothing;\nSELECT 1 AS n, NULL AS nothing, 'x' AS t;");
        assertEquals("{\"n\":1,\"nothing\":null,\"t\":\"x\"}\n", out.toString());
        assertTrue(err.toString().startsWith("NOTICE:  stream \"nothing\" does not exist, skipping\n"), err.toString());
    }

    @Test
    void copyTakesTheLinesBehindItAndGivesLines() throws IOException {
        int code = run(ResultFormat.TABLE, false, """
                CREATE TABLE t (k INT PRIMARY KEY, v TEXT);
                COPY t FROM STDIN; COPY t (v, k) FROM STDIN (FORMAT csv, HEADER);
                1\ta;b\\tc
                2\t\\N
                \\.
                v,k
                "DROP TABLE t;
                ä",3
                \\.
                COPY (SELECT * FROM t ORDER BY k) TO STDOUT;
                COPY (SELECT * FROM t ORDER BY k) TO STDOUT (FORMAT csv, HEADER);
                """);
        assertEquals(0, code, err.toString());
        assertEquals("""
                1\ta;b\\tc
                2\t\\N
                3\tDROP TABLE t;\\nä
                k,v
                1,a;b\tc
                2,
                3,"DROP TABLE t;
                ä"
                """, out.toString());
        assertEquals("CREATE TABLE\nCOPY 2\nCOPY 1\nCOPY 3\nCOPY 3\n", err.toString());
    }

    @Test
    void copyingTheAnswerWaitsForWhatWasCopiedIn() throws IOException {
        StringBuilder script = new StringBuilder("""
                CREATE STREAM s (n BIGINT, filling TEXT);
                CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n, sum(n) AS total FROM s;
                COPY s FROM STDIN;
                """);
        for (int n = 1; n <= 30_000; n++) {
            script.append(n).append("\tsome bytes more than one buffer takes\n");
        }
        assertEquals(0, run(ResultFormat.TABLE, false, script + "\\.\nCOPY v TO STDOUT;\n"), err.toString());
        assertEquals("30000\t450015000\n", out.toString());
    }

    @Test
    void rowsBehindAFailedCopyAreNoStatements() throws IOException {
        int code = run(ResultFormat.CSV, true, """
                CREATE TABLE t (k INT PRIMARY KEY);
                COPY t FROM STDIN;
                1
                one
                DROP TABLE t;
                \\.
                SELECT count(*) AS n FROM t;
                """);
        assertEquals(1, code);
        assertTrue(err.toString().contains("ERROR:  22P02"), err.toString());
        assertEquals("n\n0\n", out.toString());
    }

    @Test
    void aSubscriptionIsCopiedAsItsChanges() throws IOException {
        int code = run(ResultFormat.TABLE, false, """
                CREATE STREAM g (n BIGINT) WITH (connector = 'datagen', rows = 2);
                COPY (SUBSCRIBE TO g) TO STDOUT;""");
        assertEquals(0, code, err.toString());
        String[] lines = out.toString().split("\n");
        assertEquals(2, lines.length, out.toString());
        assertTrue(lines[1].matches("\\+\t\\d{4}-.*\\+00\t-?\\d+"), lines[1]);
    }

    @Test
    void copiesThatAreNoLinesAreRefused() throws IOException {
        int code = run(ResultFormat.TABLE, true, """
                CREATE TABLE t (k INT PRIMARY KEY);
                COPY t FROM STDIN (FORMAT binary);
                COPY t TO STDOUT (FORMAT binary);
                """);
        assertEquals(1, code);
        assertTrue(err.toString().contains("ERROR:  0A000: COPY FROM STDIN in binary form"), err.toString());
        assertTrue(err.toString().contains("ERROR:  0A000: COPY TO STDOUT in binary form"), err.toString());
        assertEquals("", out.toString());
    }

    @Test
    void copyAtAPromptIsRefused() throws IOException {
        Streams streams = new Streams(out, new PrintWriter(err, true), true, true, false, () -> COLUMNS);
        ShellMode mode = new ShellMode(ResultFormat.TABLE, false, false, false, false);
        DatabaseOptions options = DatabaseOptions.defaults();
        try (Database database = Database.open(options);
                Session session = database.session();
                Shell shell = new Shell(session, options.clock(), streams, mode)) {
            assertTrue(shell.execute("CREATE TABLE t (k INT PRIMARY KEY)"));
            assertFalse(shell.execute("COPY t FROM STDIN"));
            assertTrue(shell.execute("INSERT INTO t VALUES (1)"));
        }
        assertTrue(err.toString().contains("ERROR:  0A000: COPY FROM STDIN at a prompt"), err.toString());
    }
}
