package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What others see of definitions in a transaction, what is undone when it ends without COMMIT, and what a directory has of it. */
class UncommittedDefinitionsTest {
    private static final Set<Thread.State> WAITS = Set.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);
    private static final String OBJECTS =
            "SELECT relname || ' ' || relkind::TEXT FROM pg_class WHERE relname LIKE 'x%' ORDER BY 1";

    @TempDir
    Path folder;

    private TestDatabase database;
    private Session other;

    @BeforeEach
    void open() {
        database = new TestDatabase(folder.resolve("data"));
        other = database.database().session();
    }

    @AfterEach
    void close() {
        other.close();
        database.close();
    }

    private void reopen() {
        close();
        open();
    }

    private List<String> others(String sql) {
        try (StatementResults results = other.execute(sql)) {
            return TestDatabase.texts((StatementResult.Rows) results.next());
        }
    }

    private String othersError(String sql) {
        try (StatementResults results = other.execute(sql)) {
            results.drain();
            return "";
        } catch (MillraceException e) {
            return e.sqlState().code();
        }
    }

    @Test
    void afterARollbackThereIsNothingThatTheTransactionMade() {
        database.run("CREATE ROLE reader");
        for (int round = 0; round < 3; round++) { // nothing is left that a second time would meet
            database.run("BEGIN; CREATE TABLE x1 (id SERIAL PRIMARY KEY, a INT, s TEXT UNIQUE)");
            database.run("INSERT INTO x1 (a, s) VALUES (1, 'one'), (2, 'two')");
            database.run("CREATE INDEX x1_a ON x1 (a); CREATE UNIQUE INDEX x1_as ON x1 (a, s)");
            database.run("CREATE VIEW x2 AS SELECT a FROM x1 WHERE a > 1");
            database.run("CREATE MATERIALIZED VIEW x3 AS SELECT a, count(*) AS n FROM x1 GROUP BY a");
            database.run(
                    "CREATE STREAM x4 (k BIGINT, at TIMESTAMP, WATERMARK FOR at AS at) WITH (retention = '1 day')");
            database.run("CREATE CONTINUOUS QUERY x5 AS SELECT count(*) FROM x4");
            database.run("CREATE FUNCTION x6(a INT) RETURNS INT LANGUAGE SQL AS 'SELECT a + 1'");
            database.run("CREATE TABLE x7 AS SELECT a, s FROM x1; CREATE ROLE x8; GRANT SELECT ON x1 TO reader");
            database.run("CREATE TEMP TABLE x9 (a INT); INSERT INTO x9 VALUES (1)");
            assertEquals(List.of("2"), database.rows("SELECT x6(a) - 1 FROM x2"));
            assertEquals(List.of("2|two"), database.rows("SELECT * FROM x7 WHERE a = 2"));
            assertTrue(database.error("INSERT INTO x1 (a, s) VALUES (3, 'two')").startsWith("23505"));
            database.run("ROLLBACK");
            assertEquals(List.of(), database.rows(OBJECTS));
            assertEquals(List.of(), database.rows("SELECT rolname FROM pg_roles WHERE rolname = 'x8'"));
            assertTrue(database.error("SELECT * FROM x9").startsWith("42P01"));
            assertTrue(database.error("SELECT x6(1)").startsWith("42883"));
        }
        reopen();
        assertEquals(List.of(), database.rows(OBJECTS));
    }

    @Test
    void othersDoNotSeeWhatIsMadeBeforeItIsCommitted() {
        database.run("BEGIN; CREATE TABLE x (a INT PRIMARY KEY); INSERT INTO x VALUES (1)");
        database.run("CREATE MATERIALIZED VIEW xv AS SELECT count(*) AS n FROM x");
        assertEquals("42P01", othersError("SELECT * FROM x"));
        assertEquals("42P01", othersError("INSERT INTO x VALUES (2)"));
        assertEquals("42P01", othersError("SELECT * FROM xv"));
        assertEquals(List.of("1"), database.rows("SELECT * FROM x"));
        database.run("COMMIT");
        assertEquals(List.of("1"), others("SELECT * FROM x"));
        assertEquals(List.of("1"), others("SELECT n FROM xv"));
        reopen();
        assertEquals(List.of("1"), database.rows("SELECT * FROM x"));
        assertEquals(List.of("1"), database.rows("SELECT n FROM xv"));
    }

    @Test
    void othersWaitForWhatIsAlteredOrDropped() throws Exception {
        database.run("CREATE TABLE x (a INT PRIMARY KEY); CREATE TABLE y (a INT); INSERT INTO x VALUES (1)");
        database.run("BEGIN; ALTER TABLE x ADD COLUMN b INT DEFAULT 7");
        assertEquals("", othersError("INSERT INTO y VALUES (1)"));
        assertEquals("", othersError("SET lock_timeout = '50ms'"));
        assertEquals("55P03", othersError("SELECT * FROM x"));
        assertEquals("55P03", othersError("INSERT INTO x VALUES (2)"));
        assertEquals("55P03", othersError("CREATE TABLE z (a INT)")); // one transaction at a time defines
        assertEquals("", othersError("SET lock_timeout = 0"));
        AtomicReference<List<String>> seen = new AtomicReference<>();
        Thread reader = new Thread(() -> seen.set(others("SELECT * FROM x")));
        reader.start();
        Eventually.holds("it waits", () -> WAITS.contains(reader.getState())); // itself, or for who reads for it
        database.run("COMMIT");
        reader.join();
        assertEquals(List.of("1|7"), seen.get());
        database.run("BEGIN; DROP TABLE x");
        assertEquals("", othersError("SET lock_timeout = '50ms'"));
        assertEquals("55P03", othersError("SELECT * FROM x"));
        database.run("ROLLBACK");
        assertEquals(List.of("1|7"), others("SELECT * FROM x"));
        assertEquals("", othersError("CREATE TABLE z (a INT)"));
    }

    @Test
    void twoThatWaitForEachOtherAreToldSo() throws Exception {
        database.run("CREATE TABLE x (a INT PRIMARY KEY); INSERT INTO x VALUES (1)");
        assertEquals("", othersError("BEGIN"));
        assertEquals("", othersError("UPDATE x SET a = 2"));
        database.run("BEGIN; CREATE TABLE y (a INT)");
        AtomicReference<String> first = new AtomicReference<>("");
        Thread waiting = new Thread(() -> first.set(othersError("CREATE TABLE z (a INT)")));
        waiting.start();
        Eventually.holds("it waits", () -> waiting.getState() == Thread.State.TIMED_WAITING);
        String second = database.failure("UPDATE x SET a = 3").sqlState().code();
        database.run("ROLLBACK");
        waiting.join();
        assertEquals("40P01", second.equals("40P01") ? second : first.get());
        othersError("ROLLBACK");
        assertEquals(List.of("1"), database.rows("SELECT a FROM x"));
    }

    @Test
    void whatWasDroppedIsThereAgainWithAllThatItHad() {
        database.run("CREATE TABLE x (id SERIAL PRIMARY KEY, a INT UNIQUE); INSERT INTO x (a) VALUES (1), (2)");
        database.run("CREATE INDEX x_a ON x (a DESC); CREATE VIEW xw AS SELECT a FROM x");
        database.run("CREATE MATERIALIZED VIEW xv AS SELECT sum(a) AS n FROM x; CREATE ROLE r; GRANT SELECT ON x TO r");
        List<String> before = database.rows(OBJECTS);
        List<String> grants = database.rows("SELECT has_table_privilege('r', 'x', 'SELECT')");
        for (int round = 0; round < 2; round++) {
            database.run("BEGIN; INSERT INTO x (a) VALUES (9); DROP TABLE x CASCADE");
            assertTrue(database.error("SELECT * FROM x").startsWith("42P01"));
            database.run("ROLLBACK");
            assertEquals(before, database.rows(OBJECTS));
            assertEquals(grants, database.rows("SELECT has_table_privilege('r', 'x', 'SELECT')"));
            assertEquals(List.of("1", "2"), database.rows("SELECT a FROM xw"));
        }
        database.run("INSERT INTO x (a) VALUES (3)");
        assertEquals(List.of("6"), database.rows("SELECT n FROM xv"));
        assertEquals(List.of("5|3"), database.rows("SELECT id, a FROM x WHERE a = 3")); // numbers have gaps
        assertTrue(database.error("INSERT INTO x (a) VALUES (3)").startsWith("23505"));
        reopen();
        assertEquals(before, database.rows(OBJECTS));
        assertEquals(List.of("6"), database.rows("SELECT n FROM xv"));
    }

    @Test
    void aTableIsDroppedAndMadeAgain() {
        database.run("CREATE TABLE x (a INT PRIMARY KEY); INSERT INTO x VALUES (1)");
        String again =
                "BEGIN; DROP TABLE IF EXISTS x; CREATE TABLE x (b TEXT PRIMARY KEY); INSERT INTO x VALUES ('new')";
        database.run(again + "; ROLLBACK");
        assertEquals(List.of("1"), database.rows("SELECT a FROM x"));
        database.run(again);
        assertEquals(List.of("new"), database.rows("SELECT b FROM x"));
        database.run("COMMIT");
        assertEquals(List.of("new"), others("SELECT b FROM x"));
        reopen();
        assertEquals(List.of("new"), database.rows("SELECT b FROM x"));
        database.run("CREATE MATERIALIZED VIEW xv AS SELECT count(*) AS n FROM x");
        database.run("BEGIN; DROP MATERIALIZED VIEW xv");
        assertTrue(
                database.error("CREATE MATERIALIZED VIEW xv AS SELECT b FROM x").startsWith("0A000"));
        database.run("ROLLBACK");
        assertEquals(List.of("1"), database.rows("SELECT n FROM xv"));
    }

    @Test
    void aTableIsAlteredWithTheTransactionsOwnRows() {
        database.run("CREATE TABLE x (id INT PRIMARY KEY, a INT); INSERT INTO x VALUES (1, 10), (2, 20)");
        String change =
                "BEGIN; ALTER TABLE x ADD COLUMN b INT; UPDATE x SET b = a + id; INSERT INTO x VALUES (3, 30, 33);"
                        + " ALTER TABLE x ALTER COLUMN b SET NOT NULL; CREATE UNIQUE INDEX x_b ON x (b);"
                        + " DELETE FROM x WHERE id = 1; ALTER TABLE x DROP COLUMN a";
        database.run(change);
        assertEquals(List.of("2|22", "3|33"), database.rows("SELECT * FROM x"));
        database.run("ROLLBACK");
        assertEquals(List.of("1|10", "2|20"), database.rows("SELECT * FROM x"));
        database.run("INSERT INTO x VALUES (4, 40); DELETE FROM x WHERE id = 4");
        database.run(change + "; COMMIT");
        assertEquals(List.of("2|22", "3|33"), database.rows("SELECT * FROM x"));
        assertTrue(database.error("INSERT INTO x VALUES (5, 33)").startsWith("23505"));
        assertTrue(database.error("INSERT INTO x VALUES (5, NULL)").startsWith("23502"));
        database.run("UPDATE x SET b = 44 WHERE id = 3");
        reopen();
        assertEquals(List.of("2|22", "3|44"), database.rows("SELECT * FROM x"));
    }

    @Test
    void queriesGoOnOverATableThatATransactionAlters() {
        database.run("CREATE TABLE x (id INT PRIMARY KEY, a INT); CREATE TABLE y (id INT PRIMARY KEY, s TEXT)");
        database.run(
                "INSERT INTO x SELECT g, g FROM generate_series(1, 1000) g; INSERT INTO y VALUES (1, 'one'), (2, 'two')");
        database.run("CREATE MATERIALIZED VIEW joined AS SELECT y.s, x.a FROM y JOIN x ON x.id = y.id");
        database.run("CREATE MATERIALIZED VIEW sums AS SELECT sum(a) AS n FROM x");
        for (String end : List.of("ROLLBACK", "COMMIT")) {
            database.run("BEGIN; ALTER TABLE x ADD COLUMN b INT DEFAULT 5");
            assertEquals("", othersError("INSERT INTO y VALUES (3, 'three')")); // read while x is altered
            assertEquals(List.of("one|1", "three|3", "two|2"), database.flushedRows("SELECT * FROM joined"));
            database.run("UPDATE x SET a = a + 100 WHERE id <= 3");
            database.run(end);
            int more = end.equals("COMMIT") ? 100 : 0;
            assertEquals(
                    List.of("one|" + (1 + more), "three|" + (3 + more), "two|" + (2 + more)),
                    database.rows("SELECT * FROM joined"));
            database.run("DELETE FROM y WHERE id = 3");
        }
        database.run("INSERT INTO x VALUES (2000, 1, 2); INSERT INTO y VALUES (2000, 'last')");
        assertEquals(List.of("last|1", "one|101", "two|102"), database.rows("SELECT * FROM joined"));
        assertEquals(List.of("500801"), database.rows("SELECT n FROM sums"));
        assertTrue(database.error("BEGIN; UPDATE x SET a = 1 WHERE id = 1; ALTER TABLE x ADD COLUMN c INT")
                .startsWith("55006 cannot ALTER TABLE \"x\" because this transaction has changed its rows"));
        database.run("ROLLBACK");
        reopen();
        assertEquals(List.of("last|1", "one|101", "two|102"), database.rows("SELECT * FROM joined"));
        assertEquals(List.of("500801"), database.rows("SELECT n FROM sums"));
    }

    @Test
    void savepointsGoBackOverDefinitions() {
        database.run("CREATE TABLE x (a INT PRIMARY KEY); INSERT INTO x VALUES (1)");
        database.run("BEGIN; INSERT INTO x VALUES (2); SAVEPOINT one");
        database.run("ALTER TABLE x ADD COLUMN b INT DEFAULT 1; CREATE TABLE x2 (a INT); INSERT INTO x VALUES (3, 3)");
        database.run("SAVEPOINT two; DROP TABLE x; CREATE TABLE x3 (a INT)");
        assertTrue(database.error("SELECT * FROM x").startsWith("42P01"));
        database.run("ROLLBACK TO two");
        assertEquals(List.of("1|1", "2|1", "3|3"), database.rows("SELECT * FROM x"));
        database.run("INSERT INTO x2 VALUES (5); ROLLBACK TO one");
        assertEquals(List.of("1", "2"), database.rows("SELECT * FROM x"));
        database.run("CREATE TABLE x2 (b TEXT); INSERT INTO x2 VALUES ('b'); COMMIT");
        assertEquals(List.of("1", "2"), others("SELECT * FROM x"));
        reopen();
        assertEquals(List.of("1", "2"), database.rows("SELECT * FROM x"));
        assertEquals(List.of("b"), database.rows("SELECT * FROM x2"));
        assertTrue(database.error("SELECT * FROM x3").startsWith("42P01"));
    }

    @Test
    void whatCannotBeUndoneIsRefusedBeforeItIsDone() {
        database.run("CREATE TABLE x (a INT PRIMARY KEY); CREATE MATERIALIZED VIEW xv AS SELECT count(*) AS n FROM x");
        for (String statement : List.of(
                "CREATE SINK xs WITH (connector = 'print') AS SELECT * FROM x",
                "ALTER MATERIALIZED VIEW xv AS SELECT sum(a) AS n FROM x",
                "PAUSE MATERIALIZED VIEW xv",
                "CREATE SUBSCRIPTION s FROM xv",
                "CREATE SECRET s AS 'x'")) {
            database.run("BEGIN");
            String error = database.error(statement);
            assertTrue(error.startsWith("25001 "), statement + ": " + error);
            database.run("ROLLBACK");
        }
        database.run("BEGIN; CREATE TABLE x2 (a INT)");
        assertTrue(database.error("CHECKPOINT").startsWith("25001 "));
        database.run("ROLLBACK; CHECKPOINT");
    }

    @Test
    void aSessionThatEndsLeavesNothing() {
        Session third = database.database().session();
        third.execute("BEGIN; CREATE TABLE x (a INT); INSERT INTO x VALUES (1)").drain();
        third.close();
        assertEquals(List.of(), database.rows(OBJECTS));
        database.run("CREATE TABLE x (a INT)");
    }

    @Test
    void aMigrationThatFailsHalfWayLeavesNothing() {
        database.run("CREATE TABLE version (n TEXT); INSERT INTO version VALUES ('one')");
        database.run("CREATE TABLE x (a INT); INSERT INTO x VALUES (1), (1)");
        database.run("BEGIN; ALTER TABLE x ADD COLUMN b INT; CREATE TABLE x2 (a INT); UPDATE version SET n = 'two'");
        assertTrue(database.error("CREATE UNIQUE INDEX x_a ON x (a)").startsWith("23505"));
        assertTrue(database.error("SELECT 1").startsWith("25P02"));
        assertEquals("ROLLBACK", database.run("COMMIT"));
        assertEquals(List.of("1", "1"), database.rows("SELECT * FROM x"));
        assertEquals(List.of("one"), database.rows("SELECT n FROM version"));
        assertEquals(List.of("x r"), database.rows(OBJECTS));
    }
}
