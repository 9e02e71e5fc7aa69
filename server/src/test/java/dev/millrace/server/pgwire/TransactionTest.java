package dev.millrace.server.pgwire;

import static dev.millrace.testing.jdbc.Statements.rows;
import static dev.millrace.testing.jdbc.Statements.run;
import static dev.millrace.testing.jdbc.Statements.state;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.testing.time.OwnThread;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

/** Transactions through PostgreSQL's JDBC driver. */
@Timeout(120)
class TransactionTest {
    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private Connection begun(String... properties) throws SQLException {
        Connection connection = server.connect(properties);
        connection.setAutoCommit(false);
        return connection;
    }

    private static TransactionState transaction(Connection connection) throws SQLException {
        return connection.unwrap(BaseConnection.class).getTransactionState();
    }

    @ParameterizedTest
    @ValueSource(strings = {"extended", "simple"})
    void changesAreSeenByOthersAfterCommitAndNeverAfterRollback(String mode) throws SQLException {
        try (Connection one = begun("preferQueryMode", mode);
                Connection other = server.connect()) {
            run(
                    other,
                    "CREATE TABLE t (id BIGINT PRIMARY KEY, v TEXT)",
                    "CREATE STREAM s (k TEXT)",
                    "CREATE MATERIALIZED VIEW mv AS SELECT count(*) AS n FROM s",
                    "INSERT INTO t VALUES (1, 'a'), (2, 'b')");
            run(
                    one,
                    "INSERT INTO t VALUES (3, 'c')",
                    "UPDATE t SET v = v || '!' WHERE id >= 2",
                    "DELETE FROM t WHERE id = 1",
                    "INSERT INTO s VALUES ('x'), ('y')");
            assertEquals(TransactionState.OPEN, transaction(one));
            assertEquals(List.of("2|b!", "3|c!"), rows(one, "SELECT * FROM t ORDER BY id"));
            assertEquals(List.of("1|a", "2|b"), rows(other, "SELECT * FROM t ORDER BY id"));
            assertEquals(List.of("0"), rows(other, "SELECT n FROM mv"));
            one.rollback();
            assertEquals(TransactionState.IDLE, transaction(one));
            assertEquals(List.of("1|a", "2|b"), rows(one, "SELECT * FROM t ORDER BY id"));
            run(
                    one,
                    "INSERT INTO t VALUES (3, 'c')",
                    "UPDATE t SET v = v || '!' WHERE id >= 2",
                    "UPDATE t SET v = v || '?' WHERE id = 2",
                    "DELETE FROM t WHERE id = 1",
                    "INSERT INTO t VALUES (1, 'again')",
                    "INSERT INTO t VALUES (2, 'z') ON CONFLICT (id) DO UPDATE SET v = EXCLUDED.v",
                    "INSERT INTO s VALUES ('x'), ('y')");
            one.commit();
            List<String> expected = List.of("1|again", "2|z", "3|c!");
            assertEquals(expected, rows(one, "SELECT * FROM t ORDER BY id"));
            assertEquals(expected, rows(other, "SELECT * FROM t ORDER BY id"));
            assertEquals(List.of("2"), rows(one, "SELECT n FROM mv"));
            // what was committed is what the keys know
            assertEquals("23505", state(other, "INSERT INTO t VALUES (3, 'no')"));
            run(other, "DELETE FROM t WHERE id = 3", "INSERT INTO t VALUES (3, 'yes')");
        }
    }

    @Test
    void afterAnErrorOnlyTheEndIsTaken() throws SQLException {
        try (Connection one = begun()) {
            run(one, "CREATE TABLE t (id BIGINT PRIMARY KEY)", "COMMIT", "INSERT INTO t VALUES (1)");
            assertEquals("22012", state(one, "SELECT 1 / (id - 1) FROM t"));
            assertEquals(TransactionState.FAILED, transaction(one));
            assertEquals("25P02", state(one, "SELECT 1"));
            assertEquals("25P02", state(one, "SELECT nonsense FROM nowhere"));
            assertEquals("25P02", state(one, "INSERT INTO t VALUES (2)"));
            one.rollback();
            assertEquals(List.of(), rows(one, "SELECT * FROM t"));
            run(one, "INSERT INTO t VALUES (1)");
            assertEquals("42601", state(one, "SELEC 1"));
            assertEquals("25P02", state(one, "SELECT 1"));
            one.commit(); // which rolls back
            assertEquals(List.of(), rows(one, "SELECT * FROM t"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"never", "always"})
    void savepointsUndoAPart(String autosave) throws SQLException {
        try (Connection one = begun("autosave", autosave)) {
            run(one, "CREATE TABLE t (id BIGINT PRIMARY KEY, v TEXT)", "CREATE TABLE u (a INT)");
            run(one, "INSERT INTO t VALUES (1, 'a')", "INSERT INTO u VALUES (7)");
            Savepoint outer = one.setSavepoint("outer");
            run(one, "UPDATE t SET v = 'b' WHERE id = 1", "INSERT INTO t VALUES (2, 'b')", "DELETE FROM u");
            Savepoint inner = one.setSavepoint();
            run(one, "DELETE FROM t");
            assertEquals(List.of(), rows(one, "SELECT * FROM t"));
            one.rollback(inner);
            assertEquals(List.of("1|b", "2|b"), rows(one, "SELECT * FROM t ORDER BY id"));
            assertEquals("23505", state(one, "INSERT INTO t VALUES (2, 'c')"));
            one.rollback(outer);
            assertEquals(TransactionState.OPEN, transaction(one));
            assertEquals(List.of("1|a"), rows(one, "SELECT * FROM t ORDER BY id"));
            assertEquals(List.of("7"), rows(one, "SELECT * FROM u"));
            run(one, "INSERT INTO t VALUES (2, 'd')");
            one.releaseSavepoint(outer);
            one.commit();
            assertEquals(List.of("1|a", "2|d"), rows(one, "SELECT * FROM t ORDER BY id"));
            assertEquals("3B001", state(one, "ROLLBACK TO SAVEPOINT \"outer\""));
            one.rollback();
            one.setAutoCommit(true);
            assertEquals("25P01", state(one, "SAVEPOINT x"));
        }
    }

    @Test
    void oneCommitIsOneEpochForAllItsRelations() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        try (Connection one = begun();
                Connection other = server.connect()) {
            run(
                    other,
                    "CREATE TABLE a (v BIGINT)",
                    "CREATE TABLE b (v BIGINT)",
                    "CREATE STREAM s (v BIGINT)",
                    "CREATE MATERIALIZED VIEW ms AS SELECT count(*) AS n FROM s");
            CompletableFuture<Integer> looks = CompletableFuture.supplyAsync(
                    () -> {
                        int seen = 0;
                        try {
                            do {
                                List<String> now = rows(
                                        other,
                                        "SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b), (SELECT n FROM ms)");
                                String[] counts = now.get(0).split("\\|");
                                assertEquals(counts[0], counts[1]);
                                assertEquals(counts[0], counts[2]);
                                seen++;
                            } while (!stop.get());
                        } catch (SQLException e) {
                            throw new IllegalStateException(e);
                        }
                        return seen;
                    },
                    OwnThread.EACH);
            for (int i = 0; i < 50; i++) {
                run(one, "INSERT INTO a VALUES (1)", "INSERT INTO s VALUES (1)", "INSERT INTO b VALUES (1)");
                one.commit();
            }
            stop.set(true);
            assertTrue(looks.get(60, TimeUnit.SECONDS) > 0);
            assertEquals(List.of("50"), rows(one, "SELECT n FROM ms"));
        }
    }

    @Test
    void moneyIsMovedAndNeverMadeByConcurrentTransfers() throws Exception {
        try (Connection setUp = server.connect()) {
            run(
                    setUp,
                    "CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT)",
                    "CREATE MATERIALIZED VIEW total AS SELECT sum(balance) AS t FROM account",
                    "INSERT INTO account VALUES (0, 100), (1, 100), (2, 100), (3, 100), (4, 100)");
            AtomicInteger done = new AtomicInteger();
            AtomicInteger deadlocks = new AtomicInteger();
            List<CompletableFuture<Void>> movers = new ArrayList<>();
            for (int worker = 0; worker < 4; worker++) {
                long seed = worker;
                movers.add(CompletableFuture.runAsync(
                        () -> {
                            Random random = new Random(seed);
                            try (Connection one = begun()) {
                                for (int i = 0; i < 25; i++) {
                                    int from = random.nextInt(5);
                                    int to = (from + 1 + random.nextInt(4)) % 5;
                                    try {
                                        run(
                                                one,
                                                "UPDATE account SET balance = balance - 1 WHERE id = " + from,
                                                "UPDATE account SET balance = balance + 1 WHERE id = " + to);
                                        one.commit();
                                        done.incrementAndGet();
                                    } catch (SQLException e) {
                                        assertEquals("40P01", e.getSQLState(), e.getMessage());
                                        deadlocks.incrementAndGet();
                                        one.rollback();
                                    }
                                    assertEquals(List.of("500"), rows(one, "SELECT t FROM total"));
                                    one.commit();
                                }
                            } catch (SQLException e) {
                                throw new IllegalStateException(e);
                            }
                        },
                        OwnThread.EACH));
            }
            for (CompletableFuture<Void> mover : movers) {
                mover.get(100, TimeUnit.SECONDS);
            }
            assertEquals(100, done.get() + deadlocks.get());
            assertTrue(done.get() > 20, done + " done");
            assertEquals(List.of("500|5"), rows(setUp, "SELECT sum(balance), count(*) FROM account"));
        }
    }

    @Test
    void whoWantsAnothersRowsWaitsAndThenLooksAgain() throws Exception {
        try (Connection one = begun();
                Connection other = server.connect()) {
            run(other, "CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 1), (2, 2)");
            run(one, "UPDATE t SET v = 10 WHERE id = 1", "INSERT INTO t VALUES (3, 3)");
            run(other, "UPDATE t SET v = v + 1 WHERE id = 2"); // another row
            run(other, "SET lock_timeout = '50ms'");
            assertEquals("55P03", state(other, "UPDATE t SET v = v + 1 WHERE id = 1"));
            assertEquals("55P03", state(other, "INSERT INTO t VALUES (3, 0)"));
            run(other, "RESET lock_timeout");
            CompletableFuture<Void> waits = CompletableFuture.runAsync(
                    () -> {
                        try {
                            run(other, "UPDATE t SET v = v + 1 WHERE id = 1");
                        } catch (SQLException e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    OwnThread.EACH);
            assertThrows(TimeoutException.class, () -> waits.get(100, TimeUnit.MILLISECONDS), "it waits");
            one.commit();
            waits.get(60, TimeUnit.SECONDS);
            assertEquals(List.of("1|11", "2|3", "3|3"), rows(other, "SELECT * FROM t ORDER BY id"));
        }
    }

    @Test
    void valuesThatAreKeptUniqueAreHeldLikeRows() throws Exception {
        try (Connection one = begun();
                Connection other = server.connect()) {
            run(other, "CREATE TABLE u (id INT PRIMARY KEY, name TEXT UNIQUE)", "INSERT INTO u VALUES (1, 'a')");
            run(one, "INSERT INTO u VALUES (2, 'b')", "DELETE FROM u WHERE name = 'a'");
            run(other, "SET lock_timeout = '50ms'");
            assertEquals("55P03", state(other, "INSERT INTO u VALUES (3, 'b')"));
            assertEquals("55P03", state(other, "INSERT INTO u VALUES (3, 'a')"));
            run(other, "INSERT INTO u VALUES (3, 'c')");
            assertEquals("55006", state(other, "ALTER TABLE u ADD COLUMN n INT"));
            one.rollback();
            assertEquals("23505", state(other, "INSERT INTO u VALUES (4, 'a')"));
            run(other, "INSERT INTO u VALUES (4, 'b')");
            run(one, "DELETE FROM u WHERE name = 'a'", "INSERT INTO u VALUES (5, 'd')");
            one.commit();
            assertEquals("23505", state(other, "INSERT INTO u VALUES (6, 'd')"));
            run(other, "INSERT INTO u VALUES (6, 'a')", "ALTER TABLE u ADD COLUMN n INT DEFAULT 1");
            assertEquals(List.of("3|c|1", "4|b|1", "5|d|1", "6|a|1"), rows(other, "SELECT * FROM u ORDER BY id"));
        }
    }

    @Test
    void severalTablesAreTruncatedTogetherOrNotAtAll() throws SQLException {
        try (Connection one = begun();
                Connection other = server.connect()) {
            run(other, "CREATE TABLE a (id INT PRIMARY KEY)", "INSERT INTO a VALUES (1)");
            run(other, "CREATE TABLE b (id INT PRIMARY KEY)", "INSERT INTO b VALUES (1)");
            run(one, "UPDATE b SET id = 2");
            run(other, "SET lock_timeout = '50ms'");
            assertEquals("55P03", state(other, "TRUNCATE a, b"));
            assertEquals(List.of("1"), rows(other, "SELECT id FROM a"));
            one.rollback();
            run(other, "RESET lock_timeout", "TRUNCATE a, b");
            assertEquals(List.of("0"), rows(other, "SELECT count(*) FROM (TABLE a UNION ALL TABLE b) AS both_of_them"));
        }
    }

    @Test
    void severalStatementsInOneMessageAreOneTransaction() throws SQLException {
        try (Connection one = server.connect("preferQueryMode", "simple")) {
            run(one, "CREATE TABLE t (id INT PRIMARY KEY)", "CREATE STREAM s (k TEXT)");
            run(one, "CREATE MATERIALIZED VIEW mv AS SELECT count(*) AS n FROM s");
            assertEquals(
                    "23505",
                    state(one, "INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); INSERT INTO t VALUES (1)"));
            assertEquals(List.of(), rows(one, "SELECT * FROM t"));
            run(one, "INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)");
            assertEquals(List.of("1", "2"), rows(one, "SELECT * FROM t ORDER BY id"));
            // a view shows what the same message wrote before
            try (Statement statement = one.createStatement()) {
                statement.execute("INSERT INTO s VALUES ('a'); SELECT n FROM mv");
                assertTrue(statement.getMoreResults());
                assertTrue(statement.getResultSet().next());
                assertEquals(1, statement.getResultSet().getInt(1));
            }
            assertEquals("23505", state(one, "BEGIN; INSERT INTO t VALUES (3); COMMIT; INSERT INTO t VALUES (4), (3)"));
            assertEquals(List.of("1", "2", "3"), rows(one, "SELECT * FROM t ORDER BY id"));
            assertEquals(TransactionState.IDLE, transaction(one));
        }
    }

    @Test
    void aBatchThatIsSentWithoutWaitingIsOneTransaction() throws SQLException {
        try (Connection one = server.connect()) {
            run(one, "CREATE TABLE t (id INT PRIMARY KEY)");
            try (PreparedStatement insert = one.prepareStatement("INSERT INTO t VALUES (?)")) {
                for (int id : new int[] {1, 2, 3, 2}) {
                    insert.setInt(1, id);
                    insert.addBatch();
                }
                assertThrows(SQLException.class, insert::executeBatch);
                assertEquals(List.of(), rows(one, "SELECT * FROM t"));
                insert.clearBatch();
                for (int id = 0; id < 1000; id++) {
                    insert.setInt(1, id);
                    insert.addBatch();
                }
                assertEquals(1000, insert.executeBatch().length);
            }
            assertEquals(List.of("1000|999"), rows(one, "SELECT count(*), max(id) FROM t"));
        }
    }

    @Test
    void copiesAreHeldBackAndMemoryIsBounded() throws Exception {
        try (Connection one = begun();
                Connection other = server.connect()) {
            run(other, "CREATE STREAM s (k BIGINT)", "CREATE MATERIALIZED VIEW mv AS SELECT count(*) AS n FROM s");
            run(other, "CREATE TABLE t (k BIGINT PRIMARY KEY)");
            String lines = "1\n".repeat(10_000);
            one.unwrap(PGConnection.class).getCopyAPI().copyIn("COPY s FROM STDIN", new StringReader(lines));
            one.unwrap(PGConnection.class).getCopyAPI().copyIn("COPY t FROM STDIN", new StringReader("1\n2\n3\n"));
            assertEquals(List.of("0"), rows(other, "SELECT n FROM mv"));
            assertEquals(List.of("3"), rows(one, "SELECT count(*) FROM t"));
            one.commit();
            assertEquals(List.of("10000"), rows(one, "SELECT n FROM mv"));
            run(one, "SET LOCAL transaction_memory = '16kB'");
            SQLException tooMuch = assertThrows(
                    SQLException.class,
                    () -> one.unwrap(PGConnection.class)
                            .getCopyAPI()
                            .copyIn("COPY s FROM STDIN", new StringReader(lines)));
            assertEquals("53200", tooMuch.getSQLState());
            one.rollback();
            assertEquals(List.of("256MB"), rows(one, "SHOW transaction_memory"));
            assertEquals(List.of("10000"), rows(one, "SELECT n FROM mv"));
        }
    }

    @Test
    void aClientThatGoesRollsBack() throws Exception {
        try (Connection other = server.connect()) {
            run(other, "CREATE TABLE t (k BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (1)");
            Connection one = begun();
            run(one, "DELETE FROM t", "INSERT INTO t VALUES (2)");
            one.unwrap(BaseConnection.class).getQueryExecutor().abort(); // cut off, without a farewell
            run(other, "UPDATE t SET k = 5"); // waits for the end of it
            assertEquals(List.of("5"), rows(other, "SELECT * FROM t"));
        }
    }

    @Test
    void viewsSayThatTheyStandApart() throws SQLException {
        try (Connection one = begun()) {
            try (Statement statement = one.createStatement()) {
                statement.execute("CREATE STREAM s (k BIGINT)");
                statement.execute("CREATE MATERIALIZED VIEW mv AS SELECT count(*) AS n FROM s");
                one.commit();
                statement.execute("INSERT INTO s VALUES (1)");
                statement.executeQuery("SELECT n FROM mv");
                assertEquals(
                        "\"mv\" does not show this transaction's changes before COMMIT",
                        statement.getWarnings().getMessage());
            }
            one.rollback();
            assertEquals(List.of("0"), rows(one, "SELECT n FROM mv"));
        }
    }

    @Test
    void settingsFollowTheTransaction() throws SQLException {
        try (Connection one = server.connect("preferQueryMode", "simple")) {
            run(one, "CREATE TABLE t (k BIGINT)");
            run(one, "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY");
            assertEquals(List.of("serializable"), rows(one, "SHOW transaction_isolation"));
            assertEquals("25006", state(one, "INSERT INTO t VALUES (1)"));
            run(one, "ROLLBACK");
            assertEquals(List.of("read committed"), rows(one, "SHOW TRANSACTION ISOLATION LEVEL"));
            run(one, "BEGIN", "SET LOCAL statement_timeout = '7s'", "SET application_name = 'x'");
            assertEquals(List.of("7s"), rows(one, "SHOW statement_timeout"));
            run(one, "COMMIT");
            assertEquals(List.of("0"), rows(one, "SHOW statement_timeout"));
            assertEquals(List.of("x"), rows(one, "SHOW application_name"));
            run(one, "BEGIN", "SET application_name = 'y'", "ROLLBACK");
            assertEquals(List.of("x"), rows(one, "SHOW application_name"));
            one.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            assertEquals(Connection.TRANSACTION_REPEATABLE_READ, one.getTransactionIsolation());
            one.setReadOnly(true);
            one.setAutoCommit(false);
            assertEquals("25006", state(one, "DELETE FROM t"));
            one.rollback();
        }
    }
}
