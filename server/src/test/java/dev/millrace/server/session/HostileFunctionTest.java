package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.server.result.StatementResult;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Users' code that does not come back, wants all memory, or would end the program: its query fails, and nothing else. */
@Timeout(120)
@Tag("long")
class HostileFunctionTest {
    private static final String SOURCE = """
            package org.example;

            import java.net.ServerSocket;
            import java.util.ArrayList;
            import java.util.List;

            public final class Code {
                public static long loops(long value) {
                    long x = value;
                    while (true) x = x * 31 + 7;
                }

                public static long swallows(long value) {
                    long n = 0;
                    while (n >= 0) {
                        try { n = n % 7 + 1; if (n == 9) throw new Exception(); } catch (Exception e) { n = 0; }
                    }
                    return n;
                }

                public static long recurses(long value) {
                    return value < 0 ? 0 : recurses(value % 3) + recurses(value % 5);
                }

                public static long sleeps(long value) throws Exception {
                    Thread.sleep(Long.MAX_VALUE);
                    return 1;
                }

                public static long waits(long value) throws Exception {
                    Object lock = new Object();
                    synchronized (lock) { lock.wait(); }
                    return 1;
                }

                public static long accepts(long value) throws Exception {
                    try (ServerSocket socket = new ServerSocket(0)) {
                        return socket.accept().getPort(); // hears no interrupt
                    }
                }

                public static long hoards(long value) {
                    List<byte[]> all = new ArrayList<>();
                    while (true) all.add(new byte[1000]);
                }

                public static long wastes(long value) {
                    long n = 0;
                    while (true) n += new byte[1 << 16].length;
                }

                public static long exits(long value) { System.exit(1); return 1; }
                public static long halts(long value) { Runtime.getRuntime().halt(1); return 1; }

                public static long refers(long value) {
                    java.util.function.IntConsumer exit = System::exit;
                    exit.accept(1);
                    return 1;
                }

                public static final class Evil {
                    static { System.exit(1); }
                    public static long begins(long value) { return 1; }
                }
            }
            """;

    private static final List<String> STUCK = List.of("loops", "swallows", "sleeps", "waits");

    @TempDir
    private Path folder;

    private final TestDatabase database = new TestDatabase(1);
    private Path jar;

    /** While a process is cold all statements are planned aside, which hides what the session's own thread does. */
    @BeforeAll
    static void warm() {
        try (TestDatabase database = new TestDatabase(1)) {
            for (int i = 0; i < 1_000; i++) {
                database.rows("SELECT a" + i + " FROM (VALUES (" + i + ")) AS t (a" + i + ")");
            }
        }
    }

    @BeforeEach
    void create() throws IOException {
        jar = TestJar.of(SOURCE, folder);
        for (String name : List.of(
                "loops",
                "swallows",
                "recurses",
                "sleeps",
                "waits",
                "accepts",
                "hoards",
                "wastes",
                "exits",
                "halts",
                "refers")) {
            database.run("CREATE FUNCTION " + name + "(BIGINT) RETURNS BIGINT LANGUAGE JAVA AS '" + jar
                    + "', 'org.example.Code'");
        }
        database.run("CREATE TABLE t (n BIGINT PRIMARY KEY)");
        database.run("INSERT INTO t VALUES (1), (2)");
    }

    @AfterEach
    void close() {
        database.close();
    }

    private MillraceException fails(String sql) {
        return assertThrows(MillraceException.class, () -> database.rows(sql), sql);
    }

    @Test
    void codeThatDoesNotComeBackEndsWithItsStatement() {
        database.run("SET statement_timeout = '200ms'");
        for (String name : STUCK) {
            assertEquals(
                    "57014", fails("SELECT " + name + "(n) FROM t").sqlState().code(), name);
            assertEquals("57014", fails("SELECT " + name + "(1)").sqlState().code(), name);
        }
        database.run("SET statement_timeout = 0");
        assertEquals(List.of("2"), database.rows("SELECT count(*) FROM t"));
    }

    /** Whatever computes a value for a statement can be left behind: constants, keys, bounds and rows to be written, too. */
    @Test
    void codeThatHearsNoInterruptIsLeftBehind() {
        database.run("CREATE TABLE checked (n BIGINT CHECK (accepts(n) > 0))");
        for (String sql : List.of(
                "SELECT accepts(1)",
                "VALUES (accepts(1))",
                "SELECT accepts(g) FROM generate_series(10, 15) g",
                "SELECT n FROM t WHERE n = accepts(1)",
                "SELECT accepts(n) FROM t WHERE n = 1",
                "SELECT n FROM t WHERE n BETWEEN accepts(1) AND 5",
                "INSERT INTO t VALUES (accepts(7))",
                "UPDATE t SET n = accepts(n) WHERE n = 1",
                "DELETE FROM t WHERE n = accepts(1)",
                "INSERT INTO checked VALUES (1)")) {
            database.run("SET statement_timeout = '200ms'");
            assertEquals("57014", fails(sql).sqlState().code(), sql);
            database.run("SET statement_timeout = 0");
            assertEquals(List.of("2"), database.rows("SELECT count(*) FROM t"), sql);
        }
        assertEquals(
                "0A000", fails("SELECT n FROM t LIMIT accepts(1)").sqlState().code()); // it is planned with
    }

    @Test
    void codeThatDoesNotComeBackFailsItsViewAndNoOther() {
        database.run("SET row_timeout = '300ms'");
        database.run("CREATE MATERIALIZED VIEW total AS SELECT sum(n) AS s FROM t");
        for (String name : STUCK) {
            database.run("CREATE MATERIALIZED VIEW v AS SELECT n FROM t WHERE CASE WHEN n = 3 THEN " + name
                    + "(n) ELSE n END > 0");
            database.run("INSERT INTO t VALUES (3)");
            Eventually.holds(
                    name + " fails", () -> database.database().state("v").orElseThrow() == QueryState.FAILED);
            assertEquals(List.of("6"), database.flushedRows("SELECT s FROM total"));
            database.run("DROP MATERIALIZED VIEW v");
            database.run("DELETE FROM t WHERE n = 3");
            assertEquals(List.of("3"), database.flushedRows("SELECT s FROM total"));
        }
    }

    /** Wherever an expression over a row is evaluated, the query fails with the row and what it is a row of. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "SELECT n FROM t WHERE CASE WHEN n = 3 THEN loops(n) ELSE n END > 0 | row ",
                "SELECT a.n FROM t AS a JOIN t AS b ON a.n % 2 = b.n % 2"
                        + " AND CASE WHEN a.n + b.n = 6 THEN loops(a.n + b.n) ELSE 1 END > 0 | row . of .*Join",
                "SELECT sum(n) FILTER (WHERE CASE WHEN n = 3 THEN loops(n) ELSE n END > 0) AS s FROM t | row ",
                "SELECT sum(CASE WHEN n = 3 THEN loops(n) ELSE n END) OVER (ORDER BY n) AS s FROM t | row ",
            })
    void theRowThatTookTooLongIsNamed(String query, String place) {
        database.run("SET row_timeout = '300ms'");
        database.run("CREATE MATERIALIZED VIEW v AS " + query);
        database.run("INSERT INTO t VALUES (3)");
        Eventually.holds("it fails", () -> database.database().state("v").orElseThrow() == QueryState.FAILED);
        String why = database.rows("SELECT error FROM millrace.query_stats WHERE query = 'v'")
                .get(0);
        assertTrue(why.contains("row_timeout"), why);
        assertTrue(Pattern.compile(place).matcher(why).find(), why);
    }

    @Test
    void theFunctionThatHoldsAThreadIsNamed() {
        database.run(
                "CREATE MATERIALIZED VIEW v AS SELECT n FROM t WHERE CASE WHEN n = 3 THEN loops(n) ELSE n END > 0");
        database.run("CREATE MATERIALIZED VIEW total AS SELECT sum(n) AS s FROM t");
        database.run("INSERT INTO t VALUES (3)");
        try (Session other = database.database().session()) { // which has nothing to wait for
            Eventually.holds("it is said", () -> {
                try (StatementResult.Rows rows =
                        other.query("SELECT query, stuck_in FROM millrace.query_stats ORDER BY query")) {
                    return TestDatabase.texts(rows).equals(List.of("total|", "v|loops"));
                }
            });
        }
    }

    @Test
    void codeThatWantsAllMemoryFailsAlone() {
        for (String name : List.of("hoards", "wastes")) {
            MillraceException why = fails("SELECT " + name + "(n) FROM t");
            assertEquals("53200", why.sqlState().code(), name);
            assertTrue(why.getMessage().contains("function " + name), why.getMessage());
        }
        assertEquals(List.of("2"), database.rows("SELECT count(*) FROM t"));
    }

    @Test
    void codeThatWouldEndTheProgramFailsAlone() {
        for (String name : List.of("exits", "halts", "refers")) {
            MillraceException why = fails("SELECT " + name + "(n) FROM t");
            assertEquals("38000", why.sqlState().code(), name);
            assertTrue(why.getMessage().contains("System.exit"), why.getMessage());
        }
        MillraceException refused = assertThrows(
                MillraceException.class,
                () -> database.run("CREATE FUNCTION begins(BIGINT) RETURNS BIGINT LANGUAGE JAVA AS '" + jar
                        + "', 'org.example.Code$Evil'"));
        assertTrue(refused.getMessage().contains("System.exit"), refused.getMessage());
    }
}
