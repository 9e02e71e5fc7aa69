package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables whose rows are only added: what is refused and what is not, also after a restart. */
class AppendOnlyTableTest {
    @TempDir
    Path folder;

    private TestDatabase open() {
        return new TestDatabase(folder.resolve("data"));
    }

    private static void assertRefused(TestDatabase database, String sql) {
        assertEquals(
                SqlState.WRONG_OBJECT_TYPE,
                assertThrows(MillraceException.class, () -> database.run(sql)).sqlState(),
                sql);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "CHECKPOINT"})
    void itIsWhatItWasAfterRestarts(String checkpoint) {
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t (n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts) APPEND ONLY;"
                    + "CREATE TABLE copy WITH (append_only = true) AS SELECT 1 AS n;"
                    + "CREATE MATERIALIZED VIEW most AS SELECT max(n) AS n, count(*) AS rows FROM t");
            database.run("INSERT INTO t VALUES (1, '2026-01-01 00:00:03'), (1, '2026-01-01 00:00:03')");
            database.run(checkpoint);
            database.run("INSERT INTO t VALUES (4, '2026-01-01 00:00:12')");
            assertEquals(List.of("4|3"), database.rows("SELECT * FROM most"));
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of("4|3"), again.rows("SELECT * FROM most"));
            assertRefused(again, "DELETE FROM t");
            assertRefused(again, "DELETE FROM copy");
            again.run("INSERT INTO t VALUES (3, '2026-01-01 00:00:20'); ALTER TABLE t ADD COLUMN more INT");
        }
        try (TestDatabase twice = open()) {
            assertEquals(List.of("4|4"), twice.rows("SELECT * FROM most"));
            assertEquals(List.of("4"), twice.rows("SELECT count(*) FROM t"));
            assertRefused(twice, "UPDATE t SET n = 0");
        }
    }

    @Test
    void rowsAreAddedInTransactionsAndTakenBackWithThem() {
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t (k INT PRIMARY KEY, n INT) APPEND ONLY;"
                    + "CREATE MATERIALIZED VIEW most AS SELECT max(n) AS n, count(*) AS rows FROM t");
            database.run("BEGIN; INSERT INTO t VALUES (1, 10); SAVEPOINT s; INSERT INTO t VALUES (2, 99);"
                    + "ROLLBACK TO s; INSERT INTO t VALUES (2, 20); COMMIT");
            database.run("BEGIN; INSERT INTO t VALUES (3, 99); ROLLBACK");
            assertEquals(List.of("20|2"), database.rows("SELECT * FROM most"));
            assertRefused(database, "INSERT INTO t VALUES (1, 5) ON CONFLICT (k) DO UPDATE SET n = 0");
            assertRefused(database, "TRUNCATE t");
        }
    }
}
