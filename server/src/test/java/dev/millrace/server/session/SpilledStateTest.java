package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** State of queries that is on disk because it may not be in memory. */
@Timeout(240)
@Tag("long")
final class SpilledStateTest {
    private static final String TABLES =
            "CREATE TABLE a (id INT PRIMARY KEY, k INT, v INT, x TEXT); CREATE TABLE b (k INT, w INT); CREATE STREAM s (k INT, v INT);";

    /** Each keeps another kind of state; {@code LIMITS} says where. */
    private static final Map<String, String> QUERIES = new TreeMap<>(Map.of(
            "grouped", "SELECT k, count(*) AS n, sum(v) AS total, max(x) AS most FROM a GROUP BY k",
            "each", "SELECT id, k + v AS kv, x FROM a",
            "joined", "SELECT a.id, a.x, b.w FROM a JOIN b ON a.k = b.k AND a.v < b.w",
            "distinct_values", "SELECT k % 50 AS g, count(DISTINCT v) AS n FROM a GROUP BY k % 50",
            "best",
                    "SELECT k, v, id FROM (SELECT k, v, id, row_number() OVER (PARTITION BY k % 100 ORDER BY v DESC, id) AS p FROM a)"
                            + " WHERE p <= 20",
            "running", "SELECT id, sum(v) OVER (PARTITION BY k % 7 ORDER BY id) AS upto FROM a",
            "counted", "SELECT k, v % 1000 AS m, count(*) AS n FROM s GROUP BY k, v % 1000"));

    @TempDir
    private Path directory;

    @BeforeEach
    void memoryIsThatOfTheProcess() {
        Assumptions.assumeFalse(
                Boolean.getBoolean("millrace.memory.checked"), "files are not used where accesses are checked");
    }

    private static void create(TestDatabase database) {
        QUERIES.forEach((name, select) -> {
            database.run("CREATE MATERIALIZED VIEW m_" + name + " AS " + select);
            database.run("CREATE MATERIALIZED VIEW d_" + name + " WITH (memory_limit = '1B') AS " + select);
        });
    }

    private static void change(TestDatabase database, Random random, int rows) {
        int from = random.nextInt(1000) * rows;
        database.run("INSERT INTO a SELECT " + from + " + i, i * 7919 % 20000, i * 31 % 1009, repeat('t' || i % 997, 4)"
                + " FROM generate_series(1, " + rows + ") g(i) WHERE NOT EXISTS (SELECT 1 FROM a WHERE id = " + from
                + " + i)");
        database.run("INSERT INTO b SELECT i * 13 % 20000, i % 1009 FROM generate_series(1, " + rows / 40 + ") g(i)");
        database.run("INSERT INTO s SELECT i * " + (1 + random.nextInt(50)) + " % 30000, i FROM generate_series(1, "
                + rows + ") g(i)");
        database.run("UPDATE a SET v = v + 1, x = x || 'u' WHERE id % 11 = " + random.nextInt(11));
        database.run("DELETE FROM a WHERE id % 17 = " + random.nextInt(17));
        database.run("DELETE FROM b WHERE k % 19 = " + random.nextInt(19));
    }

    private static void assertSame(TestDatabase database) {
        database.session().flush();
        QUERIES.keySet().forEach(name -> {
            String counts =
                    "SELECT count(*) FROM (SELECT * FROM %s_" + name + " EXCEPT ALL SELECT * FROM %s_" + name + ")";
            assertEquals(List.of("0"), database.rows(String.format(counts, "m", "d")), name);
            assertEquals(List.of("0"), database.rows(String.format(counts, "d", "m")), name);
        });
    }

    private static long spilled(TestDatabase database, String query) {
        return Long.parseLong(
                database.rows("SELECT spilled_bytes FROM millrace.query_stats WHERE query = '" + query + "'")
                        .get(0));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void answersAreThoseOfTheSameQueriesInMemory(int workers) {
        Random random = new Random(workers);
        try (TestDatabase database = new TestDatabase(workers)) {
            database.run(TABLES);
            create(database);
            for (int round = 0; round < 2; round++) {
                change(database, random, 20_000);
                assertSame(database);
            }
            QUERIES.keySet().forEach(name -> {
                assertEquals(0, spilled(database, "m_" + name), name);
                assertTrue(name.equals("distinct_values") || spilled(database, "d_" + name) > 0, name);
            });
            database.run(
                    "ALTER MATERIALIZED VIEW d_grouped AS SELECT k, count(*) AS n, sum(v) AS total, max(x) AS most FROM a"
                            + " WHERE k > 10 GROUP BY k");
            assertTrue(spilled(database, "d_grouped") > 0, "the limit is the query's, whatever its plan");
            database.run("ALTER MATERIALIZED VIEW d_grouped AS " + QUERIES.get("grouped"));
            database.run("PAUSE MATERIALIZED VIEW d_joined");
            change(database, random, 5_000);
            database.run("RESUME MATERIALIZED VIEW d_joined");
            assertSame(database);
            QUERIES.keySet().forEach(name -> database.run("DROP MATERIALIZED VIEW d_" + name));
            assertEquals(0, database.database().engine().spilledBytes());
        }
    }

    @Test
    void stateOnDiskIsInCheckpointsAndNoFileOfItOutlivesTheDatabase() throws Exception {
        Random random = new Random(5);
        try (TestDatabase database = new TestDatabase(directory)) {
            database.run(TABLES);
            create(database);
            change(database, random, 20_000);
            assertSame(database);
            database.run("CHECKPOINT");
            change(database, random, 2_000);
            assertTrue(spilled(database, "d_each") > 0);
        }
        assertFalse(Files.exists(directory.resolve("spill")));
        Files.createDirectories(directory.resolve("spill"));
        Files.write(
                directory.resolve("spill").resolve("spill-1"), new byte[10]); // as a process leaves it that is killed
        try (TestDatabase database = new TestDatabase(directory)) {
            assertSame(database);
            change(database, random, 2_000);
            assertSame(database);
            assertTrue(spilled(database, "d_each") > 0, "the limit is kept with the query");
        }
        assertFalse(Files.exists(directory.resolve("spill")));
    }

    @Test
    void aQueryThatNeedsMoreOnDiskThanItsLimitFailsAloneAndItsRoomIsFree() {
        try (TestDatabase database = new TestDatabase()) {
            database.run(TABLES);
            database.run(
                    "CREATE MATERIALIZED VIEW good AS SELECT k, count(*) AS n FROM a GROUP BY k;"
                            + "CREATE MATERIALIZED VIEW bad WITH (memory_limit = '1MB', spill_limit = '2MB') AS SELECT id, x FROM a");
            database.run("INSERT INTO a SELECT i, i, i, repeat('x', 100) FROM generate_series(1, 100000) g(i)");
            database.session().flush();
            MillraceException why =
                    database.database().engine().query("bad").failure().orElseThrow();
            assertEquals(SqlState.CONFIGURATION_LIMIT_EXCEEDED, why.sqlState());
            assertTrue(
                    why.getMessage()
                            .contains("query \"bad\" needs more on disk than its spill_limit of 2048 kB; it has"),
                    why::getMessage);
            assertEquals(List.of("100000"), database.rows("SELECT count(*) FROM good"));
            database.run("DROP MATERIALIZED VIEW bad");
            assertEquals(0, database.database().engine().spilledBytes());
            database.run("INSERT INTO a VALUES (0, 0, 0, '')");
            assertEquals(List.of("100001"), database.flushedRows("SELECT sum(n) FROM good"));
        }
    }

    @Test
    void tablesAndViewsMayBeLargerThanTheMemoryOfTheServer() {
        try (TestDatabase database = new TestDatabase(DatabaseOptions.defaults()
                .withEngine(EngineOptions.defaults().withWorkers(2).withMemoryLimitBytes(64L << 20)))) {
            database.run(TABLES);
            database.run("CREATE MATERIALIZED VIEW every AS SELECT id, x FROM a");
            for (int part = 0; part < 6; part++) {
                database.run("INSERT INTO a SELECT i, i, i, repeat('y', 150) FROM generate_series(" + part * 50_000
                        + ", " + (part * 50_000 + 49_999) + ") g(i)");
            }
            assertEquals(
                    List.of("300000|299999"),
                    database.flushedRows("SELECT count(*), max(id) FROM every WHERE length(x) = 150"));
            assertEquals(QueryState.RUNNING, database.database().state("every").orElseThrow());
            assertTrue(database.database().engine().spilledBytes() > 32L << 20);
            assertTrue(database.database().engine().allocatedBytes() <= 64L << 20);
        }
    }

    @Test
    void limitsOfTheServerAreSetWhileItRuns() {
        try (TestDatabase database = new TestDatabase(DatabaseOptions.defaults()
                .withEngine(EngineOptions.defaults()
                        .withWorkers(2)
                        .withMemoryLimitBytes(1L << 30)
                        .withSpillLimitBytes(0)))) {
            assertEquals(List.of("1GB"), database.rows("SHOW memory_limit"));
            assertEquals(
                    List.of("0"),
                    database.rows("SHOW spill_limit").stream()
                            .map(text -> text.replaceAll("[a-zA-Z]", ""))
                            .toList());
            database.run(TABLES);
            database.run("SET memory_limit = '16MB'");
            database.run("INSERT INTO a SELECT i, i, i, 'x' FROM generate_series(1, 30000) g(i)");
            assertEquals(0, database.database().engine().spilledBytes());
            database.run("SET spill_limit = '1GB'");
            for (int part = 1; part < 6; part++) {
                database.run("INSERT INTO a SELECT i, i, i, repeat('z', 100) FROM generate_series("
                        + (part * 30_000 + 1) + ", " + (part + 1) * 30_000 + ") g(i)");
            }
            assertTrue(database.database().engine().spilledBytes() > 0);
            assertEquals(List.of("180000"), database.rows("SELECT count(*) FROM a"));
            database.run("RESET memory_limit; RESET ALL");
            assertEquals(List.of("1GB"), database.rows("SHOW memory_limit"));
            assertTrue(database.error("SET memory_limit = '1MB'").contains("at least 16MB"));
            assertTrue(database.error("CREATE MATERIALIZED VIEW v WITH (memory_limit = 'much') AS SELECT id FROM a")
                    .contains("option \"memory_limit\" cannot be \"much\""));
            database.run("CREATE USER ann; SET ROLE ann");
            assertTrue(database.error("SET memory_limit = '32MB'").startsWith("42501"));
        }
    }
}
