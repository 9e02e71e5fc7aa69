package dev.millrace.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.testing.database.DatabaseServer;
import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tables that follow a binary log, that of the MariaDB that is installed on this machine. */
@Tag("peers")
@Timeout(240)
class BinlogTableTest {
    private static final AtomicInteger NAMES = new AtomicInteger();
    private static Optional<DatabaseServer> running = Optional.empty();

    @TempDir
    Path folder;

    private final String table = "b" + NAMES.incrementAndGet();
    private final String outer = "test." + table;

    @BeforeAll
    static void begin() {
        Assumptions.assumeTrue(
                DatabaseServer.hasMariaDb(), "skipped because MariaDB is not installed (package mariadb-server)");
        running = Optional.of(DatabaseServer.mariaDb());
    }

    @AfterAll
    static void end() {
        running.ifPresent(DatabaseServer::close);
        running = Optional.empty();
    }

    private static DatabaseServer server() {
        return running.orElseThrow();
    }

    private String with(String connector) {
        return " WITH (connector = '" + connector + "', database = 'test', host = '127.0.0.1', port = '"
                + server().port() + "', user = '" + server().user() + "', table = '" + table + "')";
    }

    private static String waitsFor(OpenDatabase database) {
        return database.rows("SELECT waits_for FROM millrace.sources").toString();
    }

    @Test
    void valuesOfAllTypesComeByReadingAndByTheLog() {
        server().run(
                        "CREATE TABLE " + outer
                                + " (id SMALLINT PRIMARY KEY, yes BOOLEAN, i INT, u BIGINT UNSIGNED, r FLOAT, d DOUBLE, n NUMERIC(20,3),"
                                + " s TEXT, c CHAR(3), b VARBINARY(20), day DATE, t TIME(6), ts DATETIME(6), tz TIMESTAMP(6) NULL,"
                                + " j JSON, e ENUM('x','y'), y YEAR) CHARACTER SET utf8mb4",
                        "SET time_zone = '+00:00'",
                        "INSERT INTO " + outer
                                + " VALUES (1, true, -5, 18446744073709551615, 0.25, 0.1, 12345678901234567.125, 'ä€𝄞 ''\"\\\\', 'c',"
                                + " x'00ff0a', '1971-01-01', '01:00:00.000001', '2020-01-01 00:00:00.123456',"
                                + " '2020-01-01 00:00:00.123456', '{\"a\": [1, null]}', 'y', 2026)",
                        "INSERT INTO " + outer + " (id) VALUES (2)");
        String types = "id SMALLINT PRIMARY KEY, yes BOOLEAN, i INT, u NUMERIC(20), r REAL, d DOUBLE PRECISION,"
                + " n NUMERIC(20,3), s TEXT, c TEXT, b BYTEA, day DATE, t TIME, ts TIMESTAMP, tz TIMESTAMPTZ, j JSONB, e TEXT,"
                + " y INT";
        String first = "1|t|-5|18446744073709551615|0.25|0.1|12345678901234567.125|ä€𝄞 '\"\\|c|\\x00ff0a|1971-01-01|"
                + "01:00:00.000001|2020-01-01 00:00:00.123456|2020-01-01 00:00:00.123456+00|{\"a\": [1, null]}|y|2026";
        try (OpenDatabase database = new OpenDatabase(folder)) {
            database.run("CREATE TABLE k (" + types + ")" + with("mariadb-cdc"));
            database.holds("SELECT * FROM k", List.of(first, "2" + "|".repeat(16)));
            server().run("INSERT INTO " + outer
                    + " SELECT 3, yes, i, u, r, d, n, s, c, b, day, t, ts, tz, j, e, y FROM " + outer
                    + " WHERE id = 1"); // by the log
            database.holds("SELECT * FROM k", List.of(first, "2" + "|".repeat(16), "3" + first.substring(1)));
            database.run("DROP TABLE k");
        }
    }

    /** Stopped, started, changed and closed, changed again and opened: each change counts once. */
    @Test
    void aDatabaseThatIsAwayIsWaitedForAndNothingIsMissedOrDoubled() {
        server().run(
                        "CREATE TABLE " + outer + " (id INT PRIMARY KEY, v INT)",
                        "INSERT INTO " + outer + " VALUES (1, 10), (2, 20)");
        try (OpenDatabase database = new OpenDatabase(folder)) {
            database.run("CREATE TABLE away (id INT PRIMARY KEY, v INT)" + with("mariadb-cdc"));
            database.run("CREATE MATERIALIZED VIEW total AS SELECT count(*) AS n, sum(v) AS v FROM away");
            database.holds("SELECT * FROM total", List.of("2|30"));
            server().stop();
            Eventually.holds(
                    "it says what it waits for",
                    () -> !database.rows("SELECT 1 FROM millrace.sources WHERE waits_for IS NOT NULL AND retries > 0")
                            .isEmpty());
            assertTrue(waitsFor(database).contains(Integer.toString(server().port())), waitsFor(database));
            assertEquals(List.of("2|30"), database.rows("SELECT * FROM total"));
            server().begin();
            server().run("INSERT INTO " + outer + " VALUES (3, 30)", "UPDATE " + outer + " SET v = 11 WHERE id = 1");
            database.holds("SELECT * FROM total", List.of("3|61"));
        }
        server().run("DELETE FROM " + outer + " WHERE id = 2", "INSERT INTO " + outer + " VALUES (4, 1000)");
        try (OpenDatabase database = new OpenDatabase(folder)) {
            database.holds("SELECT * FROM total", List.of("3|1041"));
            server().kill();
            server().begin();
            server().run("TRUNCATE TABLE " + outer, "INSERT INTO " + outer + " VALUES (9, 9)");
            database.holds("SELECT * FROM away", List.of("9|9"));
            database.holds("SELECT * FROM total", List.of("1|9"));
            database.run("DROP TABLE away CASCADE");
        }
    }

    @Test
    void aLogThatWasPurgedStopsTheTableAndSaysWhatToDo() {
        server().run("CREATE TABLE " + outer + " (id INT PRIMARY KEY)", "INSERT INTO " + outer + " VALUES (1)");
        try (OpenDatabase database = new OpenDatabase(folder)) {
            database.run("CREATE TABLE p (id INT PRIMARY KEY)" + with("mariadb-cdc"));
            database.holds("SELECT id FROM p", List.of("1"));
        }
        server().run("INSERT INTO " + outer + " VALUES (2)", "FLUSH BINARY LOGS");
        List<String> logs = server().rows("SHOW BINARY LOGS");
        String newest = logs.get(logs.size() - 1).split("\\|")[0];
        Eventually.holds("the log is purged, as nobody reads it any more", () -> {
            server().run("PURGE BINARY LOGS TO '" + newest + "'");
            return server().rows("SHOW BINARY LOGS").get(0).startsWith(newest);
        });
        try (OpenDatabase database = new OpenDatabase(folder)) {
            Eventually.holds(
                    "it says that changes are lost",
                    () -> waitsFor(database).contains("is not among the binary logs of"));
            assertEquals(List.of("1"), database.rows("SELECT id FROM p"), "what was read is still there");
            database.run("DROP TABLE p");
            database.run("CREATE TABLE p (id INT PRIMARY KEY)" + with("mariadb-cdc"));
            database.holds("SELECT id FROM p", List.of("1", "2"));
            database.run("DROP TABLE p");
        }
    }

    /** Its connector reads the rows that there are, and would then wait for changes for ever. */
    @Test
    void theConnectorForMySqlDoesNotTakeAMariaDb() {
        server().run("CREATE TABLE " + outer + " (id INT PRIMARY KEY)");
        try (OpenDatabase database = new OpenDatabase(folder)) {
            MillraceException refused = assertThrows(
                    MillraceException.class,
                    () -> database.run("CREATE TABLE m (id INT PRIMARY KEY)" + with("mysql-cdc")));
            assertTrue(refused.getMessage().contains("is a MariaDB"), refused.getMessage());
            assertTrue(refused.hint().orElse("").contains("mariadb-cdc"), refused.hint()::toString);
            assertEquals(List.of(), database.rows("SELECT 1 FROM pg_class WHERE relname = 'm'"));
        }
    }

    /** Each has an engine of its own in one process, and none waits for what another has. */
    @Test
    void severalTablesAreFollowedAtOnce() {
        int tables = 4;
        try (OpenDatabase database = new OpenDatabase(folder)) {
            for (int i = 0; i < tables; i++) {
                server().run("CREATE TABLE test." + table + "x" + i + " (id INT PRIMARY KEY)");
                database.run("CREATE TABLE s" + i + " (id INT PRIMARY KEY)"
                        + with("mariadb-cdc").replace("'" + table + "'", "'" + table + "x" + i + "'"));
            }
            for (int i = 0; i < tables; i++) {
                server().run("INSERT INTO test." + table + "x" + i + " VALUES (" + i + ")");
            }
            for (int i = 0; i < tables; i++) {
                database.holds("SELECT id FROM s" + i, List.of("" + i));
            }
            assertEquals(
                    List.of(), database.rows("SELECT last_error FROM millrace.sources WHERE last_error IS NOT NULL"));
        }
    }
}
