package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.Millrace;
import dev.millrace.error.MillraceException;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.settings.Setting;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Statements that define something, while somebody else's definition does not end. */
@Timeout(60)
class DefinitionWaitTest {
    private static void run(Session session, String sql) {
        try (StatementResults results = session.execute(sql)) {
            while (results.hasNext()) {
                results.next().close();
            }
        }
    }

    /** The SQLSTATE that a statement of a session of its own fails with, on another thread. */
    private static String state(Database database, String sql) {
        return CompletableFuture.supplyAsync(() -> {
                    try (Session session = database.session()) {
                        run(session, "SET statement_timeout = '50ms'");
                        MillraceException why = assertThrows(MillraceException.class, () -> run(session, sql));
                        session.settings().begin(Setting.STATEMENT_TIMEOUT, "0");
                        run(session, "SELECT 1"); // what stopped the one does not stop the next
                        return why.sqlState().code();
                    }
                })
                .join();
    }

    @Test
    void whoWaitsForTheLockIsStoppedByItsTimeoutAndDefinesNothing() {
        try (Database database = Millrace.open()) {
            database.execute("CREATE TABLE t (a INT)");
            database.instance().definitionLock().lock();
            try {
                for (String sql : List.of(
                        "CREATE TABLE u (a INT)",
                        "CREATE VIEW u AS SELECT a FROM t",
                        "DROP TABLE t",
                        "ALTER TABLE t ADD COLUMN b INT",
                        "CREATE USER ann",
                        "CREATE FUNCTION f(x INT) RETURNS INT LANGUAGE SQL AS 'x + 1'")) {
                    assertEquals("57014", state(database, sql), sql);
                }
            } finally {
                database.instance().definitionLock().unlock();
            }
            assertTrue(database.catalog().object("t").isPresent());
            assertFalse(database.catalog().object("u").isPresent());
            database.execute("CREATE VIEW u AS SELECT a FROM t");
            assertFalse(database.instance().definitionLock().isLocked());
        }
    }
}
