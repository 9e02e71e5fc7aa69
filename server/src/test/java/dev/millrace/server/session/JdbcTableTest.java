package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.error.SqlState;
import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tables that are read from another database again and again. */
@Tag("peers")
@Timeout(120)
class JdbcTableTest {
    private static final long SEED = Long.getLong("millrace.jdbc.seed", 1);

    @TempDir
    Path folder;

    private Connection outside; // DuckDB, in this JVM

    @BeforeEach
    void open() throws SQLException {
        outside = DriverManager.getConnection(url());
    }

    @AfterEach
    void close() throws SQLException {
        outside.close();
    }

    private String url() {
        return "jdbc:duckdb:" + folder.resolve("outside.db");
    }

    private void outside(String... statements) {
        try (Statement statement = outside.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private String with(String options) {
        return " WITH (connector = 'jdbc', url = '" + url() + "', refresh = '100ms'" + options + ")";
    }

    private static void holds(TestDatabase database, String sql, String... rows) {
        Eventually.holds(
                sql + " gives " + List.of(rows), () -> database.rows(sql).equals(List.of(rows)));
    }

    @Test
    void aTableIsLikeTheOneOutsideAndJoinsAndViewsFollow() {
        outside(
                "CREATE TABLE prices (item VARCHAR, price DECIMAL(10,2), since TIMESTAMP)",
                "INSERT INTO prices VALUES ('a', 1.50, '2026-01-01 12:00:00'), ('b', NULL, NULL)");
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE TABLE prices (item TEXT PRIMARY KEY, price NUMERIC(10,2), since TIMESTAMP,"
                    + " twice NUMERIC(10,2) GENERATED ALWAYS AS (price * 2) STORED)" + with(""));
            database.run("CREATE STREAM sold (item TEXT, n INT)", new Object[0]);
            database.run("CREATE MATERIALIZED VIEW turnover AS SELECT s.n, p.price FROM sold s"
                    + " LEFT JOIN prices FOR SYSTEM_TIME AS OF proctime() AS p ON s.item = p.item");
            database.run("CREATE MATERIALIZED VIEW total AS SELECT count(*) AS n, sum(price) AS price FROM prices");
            holds(database, "SELECT item, price, twice, since FROM prices", "a|1.50|3.00|2026-01-01 12:00:00", "b|||");
            holds(database, "SELECT n, price FROM total", "2|1.50");
            database.run("INSERT INTO sold VALUES ('a', 1)");
            holds(database, "SELECT n, price FROM turnover", "1|1.50");
            outside(
                    "UPDATE prices SET price = 2 WHERE item = 'a'",
                    "DELETE FROM prices WHERE item = 'b'",
                    "INSERT INTO prices VALUES ('c', 3, NULL)");
            holds(database, "SELECT item, price FROM prices", "a|2.00", "c|3.00");
            holds(database, "SELECT n, price FROM total", "2|5.00");
            database.run("INSERT INTO sold VALUES ('c', 2)");
            holds(database, "SELECT n, price FROM turnover", "1|1.50", "2|3.00");
            assertEquals(List.of("|prices|"), database.rows("SELECT query, stream, waits_for FROM millrace.sources"));
        }
    }

    @Test
    void onlyRowsThatAreOthersAreChanges() {
        outside("CREATE TABLE t (k INT, v VARCHAR)", "INSERT INTO t SELECT i, 'x' || i FROM range(500) r(i)");
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE TABLE t (k INT PRIMARY KEY, v TEXT)" + with(""));
            holds(database, "SELECT count(*) FROM t", "500");
            database.run("CREATE CONTINUOUS QUERY changes AS SELECT * FROM t");
            String counted = "SELECT rows_out FROM millrace.query_stats WHERE query = 'changes'";
            holds(database, counted, "500");
            outside("UPDATE t SET v = 'y' WHERE k = 7", "INSERT INTO t VALUES (1000, 'new')");
            holds(database, "SELECT v FROM t WHERE k IN (7, 1000)", "new", "y");
            holds(database, counted, "503");
        }
    }

    /** The table outside changes at random. */
    @Test
    void whateverChangesOutsideIsThere() {
        outside("CREATE TABLE t (a INT, b VARCHAR, v BIGINT)");
        Random random = new Random(SEED);
        TreeMap<String, String> expected = new TreeMap<>();
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE TABLE t (a INT, b TEXT, v BIGINT, PRIMARY KEY (b, a))" + with(""));
            for (int round = 0; round < 10; round++) {
                outside("BEGIN");
                for (int change = random.nextInt(40); change > 0; change--) {
                    int a = random.nextInt(5);
                    String b = "k" + random.nextInt(4);
                    outside("DELETE FROM t WHERE a = " + a + " AND b = '" + b + "'");
                    expected.remove(a + "|" + b);
                    if (random.nextInt(3) > 0) {
                        long v = random.nextLong();
                        outside("INSERT INTO t VALUES (" + a + ", '" + b + "', " + v + ")");
                        expected.put(a + "|" + b, a + "|" + b + "|" + v);
                    }
                }
                outside("COMMIT");
                List<String> rows = expected.values().stream().sorted().toList();
                Eventually.holds(
                        "round " + round + ", seed " + SEED,
                        () -> database.rows("SELECT a, b, v FROM t").equals(rows));
            }
        }
    }

    @Test
    void aTableOutsideThatIsGoneIsWaitedForAndRowsStay() {
        outside("CREATE TABLE t (k INT, v VARCHAR)", "INSERT INTO t VALUES (1, 'a')");
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run("CREATE TABLE t (k INT PRIMARY KEY, v TEXT)" + with(""));
            holds(database, "SELECT v FROM t", "a");
            outside("DROP TABLE t");
            Eventually.holds(
                    "it says what it waits for",
                    () -> database.rows("SELECT waits_for FROM millrace.sources WHERE stream = 't' AND retries > 0")
                            .toString()
                            .contains("does not exist"));
            assertEquals(List.of("a"), database.rows("SELECT v FROM t"));
        }
        outside("CREATE TABLE t (k INT, v VARCHAR)", "INSERT INTO t VALUES (1, 'b'), (2, 'c')");
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) { // a restart reads it on
            holds(database, "SELECT v FROM t", "b", "c");
            database.run("DROP TABLE t");
            assertEquals(List.of(), database.rows("SELECT * FROM millrace.sources"));
            database.run("CREATE TABLE t (k INT PRIMARY KEY, v TEXT)");
            database.run("INSERT INTO t VALUES (5, 'own')");
            assertEquals(List.of("own"), database.rows("SELECT v FROM t"));
        }
    }

    @Test
    void aRowThatCannotBeTakenIsNamedAndMoreRowsThanMayBeAreNot() {
        outside(
                "CREATE TABLE t (k INT, v VARCHAR)",
                "INSERT INTO t VALUES (1, '10'), (2, 'ten')",
                "CREATE TABLE many AS SELECT i AS k FROM range(50) r(i)");
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE TABLE t (k INT PRIMARY KEY, v INT)" + with(""));
            database.run("CREATE TABLE many (k INT PRIMARY KEY)" + with(", max.rows = '49'"));
            Eventually.holds(
                    "the row is named",
                    () -> database.rows("SELECT last_error FROM millrace.sources WHERE stream = 't'")
                            .toString()
                            .contains("(k, v) = (2, ten)"));
            Eventually.holds(
                    "the limit is named",
                    () -> database.rows("SELECT waits_for FROM millrace.sources WHERE stream = 'many'")
                            .toString()
                            .contains("more than 49 rows (max.rows)"));
            assertEquals(List.of(), database.rows("SELECT k FROM t UNION ALL SELECT k FROM many"));
            outside("UPDATE t SET v = '11' WHERE k = 2");
            holds(database, "SELECT k, v FROM t", "1|10", "2|11");
        }
    }

    @Test
    void nobodyElseChangesSuchATable() {
        outside("CREATE TABLE t (k INT, v VARCHAR)", "INSERT INTO t VALUES (1, 'a')");
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE TABLE t (k INT PRIMARY KEY, v TEXT)" + with(""));
            holds(database, "SELECT v FROM t", "a");
            for (String change : List.of(
                    "INSERT INTO t VALUES (2, 'b')",
                    "UPDATE t SET v = 'b'",
                    "DELETE FROM t",
                    "TRUNCATE t",
                    "INSERT INTO t VALUES (1, 'b') ON CONFLICT (k) DO UPDATE SET v = excluded.v",
                    "MERGE INTO t USING (VALUES (1)) d(k) ON d.k = t.k WHEN MATCHED THEN DELETE")) {
                assertEquals(
                        SqlState.WRONG_OBJECT_TYPE, database.failure(change).sqlState(), change);
            }
            database.failure("ALTER TABLE t ADD COLUMN w INT");
            assertEquals(List.of("a"), database.rows("SELECT v FROM t"));
        }
    }

    @Test
    void whatIsWrongIsSaidWhenTheTableIsMade() {
        outside("CREATE TABLE t (k INT, v VARCHAR)");
        try (TestDatabase database = new TestDatabase()) {
            for (String create : List.of(
                    "CREATE TABLE t (k INT, v TEXT)" + with(""),
                    "CREATE TABLE t (k INT PRIMARY KEY, w TEXT)" + with(""),
                    "CREATE TABLE t (k INT PRIMARY KEY, v TEXT DEFAULT 'x')" + with(""),
                    "CREATE TABLE t (k INT PRIMARY KEY, v TEXT[])" + with(""),
                    "CREATE TABLE t (k INT PRIMARY KEY, v TEXT)" + with(", refesh = '1s'"),
                    "CREATE TABLE t (k INT PRIMARY KEY, v TEXT)" + with(", table = 'other'"),
                    "CREATE TABLE t (k INT PRIMARY KEY, v TEXT) WITH (connector = 'jdcb', url = '" + url() + "')")) {
                database.failure(create);
                assertEquals(List.of(), database.rows("SELECT 1 FROM pg_class WHERE relname = 't'"), create);
            }
        }
    }
}
