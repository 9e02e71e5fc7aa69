package dev.millrace.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.testing.database.DatabaseServer;
import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tables that follow those of real databases, as they are installed on this machine. */
@Tag("peers")
@Timeout(240)
class CapturedTableTest {
    private static final long SEED = Long.getLong("millrace.capture.seed", 1);
    private static final AtomicInteger NAMES = new AtomicInteger();
    private static final Map<Kind, DatabaseServer> SERVERS = new TreeMap<>();

    /** Which database is followed. */
    enum Kind {
        POSTGRES,
        MARIADB
    }

    @TempDir
    Path folder;

    private Kind kind = Kind.POSTGRES;
    private DatabaseServer server;

    @BeforeAll
    static void begin() {
        if (DatabaseServer.hasPostgres()) {
            SERVERS.put(Kind.POSTGRES, DatabaseServer.postgres());
        }
        if (DatabaseServer.hasMariaDb()) {
            SERVERS.put(Kind.MARIADB, DatabaseServer.mariaDb());
        }
    }

    @AfterAll
    static void end() {
        SERVERS.values().forEach(DatabaseServer::close);
        SERVERS.clear();
    }

    private void use(Kind wanted) {
        Assumptions.assumeTrue(
                SERVERS.containsKey(wanted),
                "skipped because " + wanted + " is not installed (packages postgresql, mariadb-server)");
        kind = wanted;
        server = SERVERS.get(wanted);
    }

    private static String newTable() {
        return "t" + NAMES.incrementAndGet();
    }

    /** A name as the other database wants it. */
    private String outer(String table) {
        return kind == Kind.MARIADB ? "test." + table : table;
    }

    private String with(String table, String more) {
        String where = kind == Kind.POSTGRES
                ? "connector = 'postgres-cdc', database = 'postgres'"
                : "connector = 'mariadb-cdc', database = 'test'";
        return " WITH (" + where + ", host = '127.0.0.1', port = '" + server.port() + "', user = '" + server.user()
                + "', table = '" + table + "'" + more + ")";
    }

    private static String slots(DatabaseServer server) {
        return server.rows("SELECT slot_name FROM pg_replication_slots").toString();
    }

    @ParameterizedTest
    @EnumSource
    void rowsThatAreThereComeAndThenWhatChanges(Kind wanted) {
        use(wanted);
        String table = newTable();
        server.run(
                "CREATE TABLE " + outer(table) + " (id INT PRIMARY KEY, name VARCHAR(20), price NUMERIC(10,2))",
                "INSERT INTO " + outer(table) + " VALUES (1, 'a', 1.50), (2, NULL, NULL)");
        try (OpenDatabase database = new OpenDatabase(folder)) {
            database.run("CREATE TABLE orders (id INT PRIMARY KEY, name TEXT, price NUMERIC(10,2))" + with(table, ""));
            database.run("CREATE MATERIALIZED VIEW total AS SELECT count(*) AS n, sum(price) AS price FROM orders");
            database.holds("SELECT * FROM orders", List.of("1|a|1.50", "2||"));
            server.run(
                    "INSERT INTO " + outer(table) + " VALUES (3, 'c', 3)",
                    "UPDATE " + outer(table) + " SET price = 2 WHERE id = 1",
                    "DELETE FROM " + outer(table) + " WHERE id = 2",
                    "UPDATE " + outer(table) + " SET id = 4 WHERE id = 3");
            database.holds("SELECT * FROM orders", List.of("1|a|2.00", "4|c|3.00"));
            database.holds("SELECT * FROM total", List.of("2|5.00"));
            server.run("TRUNCATE TABLE " + outer(table), "INSERT INTO " + outer(table) + " VALUES (9, 'z', 9)");
            database.holds("SELECT * FROM orders", List.of("9|z|9.00"));
            assertTrue(database.rows("SELECT stream, split FROM millrace.sources")
                    .toString()
                    .contains("orders|"));
            database.run("DROP TABLE orders CASCADE");
            assertEquals(List.of(), database.rows("SELECT * FROM millrace.sources"));
            if (kind == Kind.POSTGRES) {
                Eventually.holds(
                        "the slot goes with the table", () -> !slots(server).contains("millrace_orders"));
            }
        }
    }

    /** A database that is closed in the midst goes on where it was, whatever happened meanwhile. */
    @ParameterizedTest
    @EnumSource
    void aDatabaseThatIsOpenedAgainGoesOn(Kind wanted) {
        use(wanted);
        String table = newTable();
        Random random = new Random(SEED);
        Map<Integer, String> expected = new TreeMap<>();
        server.run("CREATE TABLE " + outer(table) + " (id INT PRIMARY KEY, v VARCHAR(40))");
        for (int run = 0; run < 3; run++) {
            try (OpenDatabase database = new OpenDatabase(folder)) {
                if (run == 0) {
                    database.run("CREATE TABLE t (id INT PRIMARY KEY, v TEXT)" + with(table, ""));
                }
                for (int round = 0; round < 3; round++) {
                    changeAtRandom(table, random, expected);
                }
                if (random.nextBoolean()) {
                    database.holds(
                            "SELECT v FROM t",
                            expected.values().stream().sorted().toList());
                }
            }
            changeAtRandom(table, random, expected);
        }
        try (OpenDatabase database = new OpenDatabase(folder)) {
            database.holds(
                    "SELECT v FROM t", expected.values().stream().sorted().toList());
            database.run("DROP TABLE t");
        }
    }

    private void changeAtRandom(String table, Random random, Map<Integer, String> expected) {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            for (int change = 0; change < 20; change++) {
                int id = random.nextInt(25);
                statement.execute("DELETE FROM " + outer(table) + " WHERE id = " + id);
                expected.remove(id);
                if (random.nextInt(3) > 0) {
                    String value = id + "-" + random.nextInt(1000);
                    statement.execute("INSERT INTO " + outer(table) + " VALUES (" + id + ", '" + value + "')");
                    expected.put(id, value);
                }
            }
            connection.commit();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void valuesOfAllTypesComeFromPostgres() {
        use(Kind.POSTGRES);
        String table = newTable();
        String types =
                "id SMALLINT PRIMARY KEY, yes BOOLEAN, i INT, l BIGINT, r REAL, d DOUBLE PRECISION, n NUMERIC(20,3), s TEXT,"
                        + " v VARCHAR(10), c CHAR(3), b BYTEA, day DATE, t TIME, ts TIMESTAMP, tz TIMESTAMPTZ, iv INTERVAL, u UUID, j JSONB";
        server.run(
                "CREATE TABLE " + table + " (" + types + ")",
                "INSERT INTO " + table
                        + " VALUES (1, true, -5, 9223372036854775807, 0.25, 0.1, 12345678901234567.125, 'ä€𝄞 ''\"\\',"
                        + " 'v', 'c', '\\x00ff0a', '1971-01-01', '01:00:00.000001', '2020-01-01 00:00:00.123456',"
                        + " '2020-01-01 02:00:00.123456+02', '1 year 2 days 03:04:05.5', '00112233-4455-6677-8899-aabbccddeeff',"
                        + " '{\"a\": [1, null]}')",
                "INSERT INTO " + table + " (id) VALUES (2)");
        String first =
                "1|t|-5|9223372036854775807|0.25|0.1|12345678901234567.125|ä€𝄞 '\"\\|v|c  |\\x00ff0a|1971-01-01|01:00:00.000001|"
                        + "2020-01-01 00:00:00.123456|2020-01-01 00:00:00.123456+00|1 year 2 days 03:04:05.5|"
                        + "00112233-4455-6677-8899-aabbccddeeff|{\"a\": [1, null]}";
        try (OpenDatabase database = new OpenDatabase(folder)) {
            database.run("CREATE TABLE k (" + types + ")" + with(table, ""));
            database.holds("SELECT * FROM k", List.of(first, "2" + "|".repeat(17)));
            server.run(
                    "INSERT INTO " + table + " SELECT 3, yes, i, l, r, d, n, s, v, c, b, day, t, ts, tz, iv, u, j FROM "
                            + table + " WHERE id = 1"); // by the log
            database.holds("SELECT * FROM k", List.of(first, "2" + "|".repeat(17), "3" + first.substring(1)));
            database.run("DROP TABLE k");
        }
    }

    /** PostgreSQL's log does not tell large values that an UPDATE leaves as they are. */
    @Test
    void largeValuesThatDoNotChangeStay() {
        use(Kind.POSTGRES);
        String table = newTable();
        server.run(
                "CREATE TABLE " + table + " (id INT PRIMARY KEY, large TEXT, bytes BYTEA, n INT)",
                "ALTER TABLE " + table + " ALTER COLUMN large SET STORAGE EXTERNAL",
                "ALTER TABLE " + table + " ALTER COLUMN bytes SET STORAGE EXTERNAL",
                "INSERT INTO " + table + " VALUES (1, repeat('x', 20000), decode(repeat('ab', 20000), 'hex'), 1)");
        try (OpenDatabase database = new OpenDatabase(folder)) {
            database.run("CREATE TABLE l (id INT PRIMARY KEY, large TEXT, bytes BYTEA, n INT)" + with(table, ""));
            database.holds("SELECT id, length(large), length(bytes), n FROM l", List.of("1|20000|20000|1"));
            server.run(
                    "UPDATE " + table + " SET n = 2 WHERE id = 1",
                    "INSERT INTO " + table + " VALUES (2, repeat('y', 30000), NULL, 1)",
                    "UPDATE " + table + " SET n = 3 WHERE id = 2");
            database.holds(
                    "SELECT id, length(large), length(bytes), n FROM l", List.of("1|20000|20000|2", "2|30000||3"));
            database.run("DROP TABLE l");
        }
    }

    @ParameterizedTest
    @EnumSource
    void columnsThatComeAreLeftOutAndThoseThatGoAreNull(Kind wanted) {
        use(wanted);
        String table = newTable();
        server.run(
                "CREATE TABLE " + outer(table) + " (id INT PRIMARY KEY, a VARCHAR(20), b VARCHAR(20))",
                "INSERT INTO " + outer(table) + " VALUES (1, 'a1', 'b1')");
        try (OpenDatabase database = new OpenDatabase(folder)) {
            database.run("CREATE TABLE c (id INT PRIMARY KEY, a TEXT, b TEXT)" + with(table, ""));
            database.holds("SELECT * FROM c", List.of("1|a1|b1"));
            server.run(
                    "ALTER TABLE " + outer(table) + " ADD COLUMN more INT",
                    "INSERT INTO " + outer(table) + " VALUES (2, 'a2', 'b2', 5)",
                    "ALTER TABLE " + outer(table) + " DROP COLUMN b",
                    "INSERT INTO " + outer(table) + " (id, a) VALUES (3, 'a3')");
            database.holds("SELECT * FROM c", List.of("1|a1|b1", "2|a2|b2", "3|a3|"));
        }
        try (OpenDatabase database = new OpenDatabase(folder)) { // with the definitions as they were then
            server.run("INSERT INTO " + outer(table) + " (id, a) VALUES (4, 'a4')");
            database.holds("SELECT * FROM c", List.of("1|a1|b1", "2|a2|b2", "3|a3|", "4|a4|"));
            database.run("DROP TABLE c");
        }
    }

    @Test
    void aTypeThatDoesNotFitStopsTheTableAndSaysWhy() {
        use(Kind.POSTGRES);
        String table = newTable();
        server.run(
                "CREATE TABLE " + table + " (id INT PRIMARY KEY, n TEXT)",
                "INSERT INTO " + table + " VALUES (1, '10')");
        try (OpenDatabase database = new OpenDatabase(folder)) {
            database.run("CREATE TABLE w (id INT PRIMARY KEY, n INT)" + with(table, ""));
            database.holds("SELECT * FROM w", List.of("1|10"));
            server.run("INSERT INTO " + table + " VALUES (2, 'two')");
            Eventually.holds(
                    "the row is named",
                    () -> database.rows("SELECT waits_for FROM millrace.sources")
                            .toString()
                            .contains("(id, n) = (2, two)"));
            assertEquals(List.of("1|10"), database.rows("SELECT * FROM w"));
            database.run("DROP TABLE w");
        }
    }

    /** The whole of a transaction there is one here: who reads sees all of it or nothing. */
    @ParameterizedTest
    @EnumSource
    void transactionsAreWhole(Kind wanted) throws SQLException {
        use(wanted);
        String table = newTable();
        server.run("CREATE TABLE " + outer(table) + " (id INT PRIMARY KEY, amount INT)");
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            for (int id = 0; id < 10; id++) {
                statement.execute("INSERT INTO " + outer(table) + " VALUES (" + id + ", 100)");
            }
        }
        try (OpenDatabase database = new OpenDatabase(folder);
                Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            database.run("CREATE TABLE bank (id INT PRIMARY KEY, amount INT)"
                    + with(table, ", properties.max.batch.size = '3'"));
            database.holds("SELECT count(*) FROM bank", List.of("10"));
            connection.setAutoCommit(false);
            Random random = new Random(SEED);
            for (int transfer = 0; transfer < 60; transfer++) {
                for (int id = 0; id < 10; id++) { // more rows than a batch has
                    int amount = random.nextInt(50);
                    statement.execute(
                            "UPDATE " + outer(table) + " SET amount = amount - " + amount + " WHERE id = " + id);
                    statement.execute(
                            "UPDATE " + outer(table) + " SET amount = amount + " + amount + " WHERE id = " + (9 - id));
                }
                connection.commit();
                assertEquals(List.of("1000"), database.rows("SELECT sum(amount) FROM bank"), "seed " + SEED);
            }
            statement.execute("INSERT INTO " + outer(table) + " VALUES (77, 0)");
            connection.commit();
            database.holds("SELECT id FROM bank WHERE id = 77", List.of("77"));
            database.run("DROP TABLE bank");
        }
    }

    @Test
    void aDatabaseThatIsAwayIsWaitedForAndASlotThatIsGoneIsSaid() {
        use(Kind.POSTGRES);
        String table = newTable();
        server.run("CREATE TABLE " + table + " (id INT PRIMARY KEY)", "INSERT INTO " + table + " VALUES (1)");
        try (OpenDatabase database = new OpenDatabase(folder)) {
            database.run("CREATE TABLE away (id INT PRIMARY KEY)" + with(table, ""));
            database.holds("SELECT id FROM away", List.of("1"));
            server.kill();
            Eventually.holds(
                    "it says what it waits for",
                    () -> !database.rows("SELECT 1 FROM millrace.sources WHERE waits_for IS NOT NULL AND retries > 0")
                            .isEmpty());
            server.begin();
            server.run("INSERT INTO " + table + " VALUES (2)");
            database.holds("SELECT id FROM away", List.of("1", "2"));
        }
        server.run("SELECT pg_drop_replication_slot('millrace_away')", "INSERT INTO " + table + " VALUES (3)");
        try (OpenDatabase database = new OpenDatabase(folder)) {
            Eventually.holds(
                    "it says that rows are lost",
                    () -> database.rows("SELECT waits_for FROM millrace.sources")
                            .toString()
                            .contains("\"millrace_away\" is gone"));
            assertEquals(List.of("1", "2"), database.rows("SELECT id FROM away"));
            database.run("DROP TABLE away");
            database.run("CREATE TABLE away (id INT PRIMARY KEY)" + with(table, ""));
            database.holds("SELECT id FROM away", List.of("1", "2", "3"));
            database.run("DROP TABLE away");
        }
    }

    @Test
    void whatCannotBeFollowedIsSaidWhenTheTableIsMade() {
        use(Kind.POSTGRES);
        String table = newTable();
        server.run(
                "CREATE TABLE " + table + " (id INT PRIMARY KEY, a INT)", "CREATE TABLE keyless" + table + " (id INT)");
        try (OpenDatabase database = new OpenDatabase(folder)) {
            for (String create : List.of(
                    "CREATE TABLE x (id INT, a INT)" + with(table, ""),
                    "CREATE TABLE x (id INT, a INT PRIMARY KEY)" + with(table, ""),
                    "CREATE TABLE x (id INT PRIMARY KEY, b INT)" + with(table, ""),
                    "CREATE TABLE x (id INT PRIMARY KEY)" + with("keyless" + table, ""),
                    "CREATE TABLE x (id INT PRIMARY KEY)" + with("nothing", ""),
                    "CREATE TABLE x (id INT PRIMARY KEY)" + with(table, ", slto = 'a'"),
                    "CREATE TABLE x (id INT PRIMARY KEY)" + with(table, ", slot = 'A-B'"),
                    "CREATE TABLE x (id INT PRIMARY KEY)" + with(table, ", password = 'open'"),
                    "CREATE TABLE x (id INT PRIMARY KEY) WITH (connector = 'mysql-cdc', database = 'd', user = 'u')")) {
                assertThrows(MillraceException.class, () -> database.run(create), create);
                assertEquals(List.of(), database.rows("SELECT 1 FROM pg_class WHERE relname = 'x'"), create);
            }
            assertTrue(!slots(server).contains("millrace_x"));
        }
    }
}
