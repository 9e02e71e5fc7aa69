package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** ALTER SYSTEM: at once, for everybody, and after a restart. */
class SystemSettingsTest {
    @TempDir
    Path folder;

    private TestDatabase open() {
        return new TestDatabase(folder.resolve("data"));
    }

    private static List<String> limits(TestDatabase database) {
        return database.rows(
                "SELECT name, setting, source, reset_val FROM pg_settings WHERE name IN ('memory_limit', 'spill_limit')");
    }

    @Test
    void limitsAreKept() {
        String memory;
        String spill;
        try (TestDatabase database = open()) {
            memory = database.rows("SHOW memory_limit").get(0);
            spill = database.rows("SHOW spill_limit").get(0);
            List<String> begun = limits(database);
            assertTrue(begun.get(0).startsWith("memory_limit|" + memory + "|")
                    && begun.get(0).endsWith("|" + memory));
            assertEquals("ALTER SYSTEM", database.run("ALTER SYSTEM SET memory_limit = '512MB'"));
            assertEquals("ALTER SYSTEM", database.run("ALTER SYSTEM SET spill_limit TO '3GB'"));
            database.run("SET memory_limit = '128MB'");
            assertEquals(
                    List.of("memory_limit|128MB|session|512MB", "spill_limit|3GB|configuration file|3GB"),
                    limits(database));
            assertEquals(List.of("128MB"), database.rows("SELECT current_setting('memory_limit')"));
        }
        try (TestDatabase again = open()) {
            assertEquals(
                    List.of("memory_limit|512MB|configuration file|512MB", "spill_limit|3GB|configuration file|3GB"),
                    limits(again));
            assertEquals(512L << 20, again.database().engine().options().memoryLimitBytes());
            assertEquals(3L << 30, again.database().engine().options().spillLimitBytes());
            again.run("SET memory_limit = '64MB'; RESET memory_limit");
            assertEquals(List.of("512MB"), again.rows("SHOW memory_limit"));
            again.run("SET memory_limit = '64MB'; ALTER SYSTEM RESET memory_limit");
            assertEquals(List.of(memory), again.rows("SHOW memory_limit"));
            again.run("ALTER SYSTEM SET memory_limit = '256MB'; CHECKPOINT; ALTER SYSTEM RESET ALL");
            assertEquals(List.of(spill), again.rows("SHOW spill_limit"));
            again.run("ALTER SYSTEM SET scheduling_policy = 'round_robin'");
        }
        try (TestDatabase third = open()) {
            assertEquals(List.of(memory), third.rows("SHOW memory_limit"));
            assertEquals(List.of(spill), third.rows("SHOW spill_limit"));
            assertEquals(List.of("round_robin"), third.rows("SHOW scheduling_policy"));
            third.run("ALTER SYSTEM SET scheduling_policy TO DEFAULT");
        }
    }

    /** A limit below what a database needs to open would never be taken back. */
    @Test
    void aDatabaseOpensWhateverItsLimits() {
        try (TestDatabase database = open()) {
            database.run(
                    "CREATE TABLE t (k INT PRIMARY KEY, v TEXT); CREATE MATERIALIZED VIEW c AS SELECT count(*) AS c FROM t");
            database.run("INSERT INTO t SELECT i, repeat('x', 200) FROM generate_series(1, 300000) g(i); CHECKPOINT");
            database.run("INSERT INTO t SELECT i, repeat('x', 200) FROM generate_series(300001, 400000) g(i)");
            database.run("ALTER SYSTEM SET spill_limit = 0; ALTER SYSTEM SET memory_limit = '16MB'");
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of(), again.database().notRestored());
            assertEquals(16L << 20, again.database().engine().options().memoryLimitBytes());
            assertEquals(0, again.database().engine().options().spillLimitBytes());
            again.run("ALTER SYSTEM RESET ALL");
            assertEquals(List.of("400000"), again.rows("SELECT c FROM c"));
            assertEquals(List.of("400000"), again.rows("SELECT count(*) FROM t"));
        }
    }

    @Test
    void whatIsRefusedChangesNothing() {
        try (TestDatabase database = open()) {
            String memory = database.rows("SHOW memory_limit").get(0);
            assertTrue(database.error("ALTER SYSTEM SET memory_limit = '1MB'")
                    .startsWith("22023 memory_limit must be at least 16MB"));
            assertTrue(database.error("ALTER SYSTEM SET memory_limit = 'much'").startsWith("22023 "));
            assertTrue(database.error("ALTER SYSTEM SET nothing = 1").startsWith("42704 "));
            assertTrue(
                    database.error("ALTER SYSTEM SET statement_timeout = '1s'").startsWith("0A000 "));
            assertTrue(database.error("ALTER SYSTEM memory_limit = '1GB'").startsWith("42601 "));
            assertTrue(database.error("BEGIN; ALTER SYSTEM SET memory_limit = '1GB'")
                    .startsWith("25001 ALTER SYSTEM cannot run inside a transaction block"));
            database.run("ROLLBACK; CREATE ROLE other; SET ROLE other");
            for (String change : List.of("SET memory_limit = '1GB'", "RESET spill_limit", "RESET ALL")) {
                assertTrue(database.error("ALTER SYSTEM " + change).startsWith("42501 "), change);
            }
            database.run("RESET ROLE");
            assertEquals(List.of(memory), database.rows("SHOW memory_limit"));
        }
    }
}
