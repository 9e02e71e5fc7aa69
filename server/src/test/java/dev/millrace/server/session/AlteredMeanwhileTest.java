package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.memory.Memory;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.sql.Frontend;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.statement.Statement;
import dev.millrace.testing.time.Eventually;
import dev.millrace.testing.time.OwnThread;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tables that others alter or drop while a statement, or a transaction, has them in mind as they were. */
@Timeout(120)
class AlteredMeanwhileTest {
    private final TestDatabase database = new TestDatabase();
    private final Session other = database.database().session();

    @AfterEach
    void close() {
        other.close();
        database.close();
    }

    private void byOther(String sql) {
        try (StatementResults results = other.execute(sql)) {
            while (results.hasNext()) {
                results.next().close();
            }
        }
    }

    private String state(String sql) {
        return database.failure(sql).sqlState().code();
    }

    // ---- transactions ----------------------------------------------------------------------------------------------

    @Test
    void aTransactionThatFoundNoRowsDoesNotGoOnWithTheOldKeys() {
        database.run("CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 1)");
        database.run("BEGIN; UPDATE t SET v = 2 WHERE id = 99");
        byOther("ALTER TABLE t ADD COLUMN x INT");
        assertEquals("40001", state("INSERT INTO t (id, v) VALUES (1, 5)"));
        database.run("ROLLBACK; BEGIN; INSERT INTO t (id, v) VALUES (2, 5); COMMIT");
        assertEquals("23505", state("INSERT INTO t (id, v) VALUES (2, 6)"));
        assertEquals(List.of("1|1|", "2|5|"), database.rows("SELECT * FROM t"));
    }

    @Test
    void aTransactionDoesNotChangeAnotherTableOfTheSameName() {
        database.run("CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 1)");
        database.run("BEGIN; INSERT INTO t VALUES (2, 2)");
        byOther("DROP TABLE t; CREATE TABLE t (id INT PRIMARY KEY, price INT); INSERT INTO t VALUES (1, 100)");
        assertEquals("40001", state("COMMIT"));
        database.run("BEGIN; DELETE FROM t WHERE id = 99");
        byOther("DROP TABLE t; CREATE TABLE t (id INT PRIMARY KEY, cost INT); INSERT INTO t VALUES (1, 100)");
        assertEquals("40001", state("INSERT INTO t VALUES (1, 7)"));
        database.run("ROLLBACK; INSERT INTO t VALUES (3, 3)");
        assertEquals(List.of("1|100", "3|3"), database.rows("SELECT * FROM t"));
    }

    @Test
    void rowsThatATransactionAddsKeepATableWithoutAKeyAsItIs() {
        database.run("CREATE TABLE t (a INT, b INT)");
        database.run("BEGIN; INSERT INTO t VALUES (1, 2)");
        assertEquals(
                "55006",
                assertThrows(MillraceException.class, () -> byOther("ALTER TABLE t DROP COLUMN a"))
                        .sqlState()
                        .code());
        database.run("COMMIT");
        byOther("ALTER TABLE t DROP COLUMN a");
        assertEquals(List.of("2"), database.rows("SELECT * FROM t"));
    }

    @Test
    void dropDoesNotFreeRowsThatAStatementReads() {
        database.run("CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 1)");
        TableKeys keys = database.database().instance().tableKeys().get("t");
        keys.lock().lock(); // as a statement has it that puts rows in the place of others
        try {
            CompletableFuture.runAsync(() -> byOther("DROP TABLE t"), OwnThread.EACH)
                    .join();
            assertEquals(1, keys.rowCount());
        } finally {
            keys.unlock();
        }
        assertEquals(0, keys.rowCount());
    }

    // ---- statements ------------------------------------------------------------------------------------------------

    /** Runs a statement up to where it waits for a lock, has the table altered, and gives the statement's error. */
    private String altered(String statement, Lock lock, Eventually.Condition isAwaited, String alteration) {
        lock.lock();
        CompletableFuture<String> running;
        try {
            running = CompletableFuture.supplyAsync(() -> database.run(statement), OwnThread.EACH);
            Eventually.holds("the statement waits", isAwaited);
            byOther(alteration);
        } finally {
            lock.unlock();
        }
        CompletionException failure = assertThrows(CompletionException.class, running::join);
        return ((MillraceException) failure.getCause()).sqlState().code();
    }

    @Test
    void whatWasPlannedForOtherTypesIsNotRun() {
        database.run("CREATE TABLE t (a INT, b TEXT, c INT); INSERT INTO t VALUES (1, 'one', 10)");
        Statement statement = database.database()
                .instance()
                .plans()
                .analyze(
                        new Frontend().parse("SELECT a, b, c FROM t").get(0),
                        database.database().catalog(),
                        Parameters.none());
        PlanNode plan = database.database()
                .instance()
                .plans()
                .pull(((Statement.Select) statement).query())
                .root();
        byOther("ALTER TABLE t DROP COLUMN a; ALTER TABLE t ADD COLUMN d INT");
        MillraceException error = assertThrows(
                MillraceException.class, () -> database.database().engine().run(plan));
        assertEquals("40001", error.sqlState().code());
    }

    @Test
    void aSelectDoesNotReadOtherColumnsOfTheSameTypes() {
        database.run("CREATE TABLE u (v INT); CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 2)");
        String error = altered(
                "WITH changed AS (INSERT INTO u VALUES (1) RETURNING v) SELECT a FROM t",
                database.database().instance().tableKeys().get("u").lock(),
                database.database().instance().tableKeys().get("u")::isAwaited,
                "ALTER TABLE t DROP COLUMN a; ALTER TABLE t ADD COLUMN c INT");
        assertEquals("40001", error);
    }

    @Test
    void aViewIsNotMadeOverOtherColumnsOfTheSameTypes() {
        database.run("CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 2)");
        String error = altered(
                "CREATE MATERIALIZED VIEW m AS SELECT a FROM t",
                database.database().instance().definitionLock(),
                database.database().instance().definitionLock()::hasQueuedThreads,
                "ALTER TABLE t DROP COLUMN a; ALTER TABLE t ADD COLUMN c INT");
        assertEquals("40001", error);
        assertEquals("42P01", state("SELECT * FROM m"));
    }

    private static void write(StatementResult.CopyIn copy, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        long address = Memory.allocate(bytes.length);
        try {
            Memory.copyIn(bytes, 0, address, bytes.length);
            copy.write(address, bytes.length);
        } finally {
            Memory.free(address);
        }
    }

    @Test
    void aCopyDoesNotPutValuesIntoOtherColumns() {
        database.run("CREATE TABLE t (a INT, b INT)");
        try (StatementResults results = database.session().execute("COPY t FROM STDIN")) {
            StatementResult.CopyIn copy = (StatementResult.CopyIn) results.next();
            byOther("ALTER TABLE t DROP COLUMN a; ALTER TABLE t ADD COLUMN c INT");
            MillraceException error = assertThrows(MillraceException.class, () -> {
                try (copy) {
                    write(copy, "1\t2\n");
                    copy.finish();
                }
            });
            assertEquals("40001", error.sqlState().code());
        }
        assertEquals(List.of(), database.rows("SELECT * FROM t"));
        assertEquals("INSERT 0 1", database.run("INSERT INTO t VALUES (1, 2)"));
    }

    @Test
    void otherDefinitionsAreNobodysBusiness() {
        database.run("CREATE TABLE t (a INT, b INT)");
        try (StatementResults results = database.session().execute("COPY t FROM STDIN")) {
            StatementResult.CopyIn copy = (StatementResult.CopyIn) results.next();
            byOther("CREATE TABLE u (a INT); ALTER TABLE u ADD COLUMN b INT; CREATE INDEX ta ON t (a);"
                    + " CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM t; DROP TABLE u");
            write(copy, "1\t2\n");
            assertEquals(1, copy.finish());
            copy.close();
        }
        assertEquals(List.of("1|2"), database.rows("SELECT * FROM t"));
    }

    @Test
    void anAlterationThatFailsLeavesTheTableToAll() {
        database.run("CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, NULL)");
        assertEquals("23502", state("ALTER TABLE t ALTER COLUMN b SET NOT NULL"));
        assertEquals("INSERT 0 1", database.run("INSERT INTO t VALUES (2, 2)"));
        assertEquals(List.of("1|", "2|2"), database.rows("SELECT * FROM t"));
    }
}
