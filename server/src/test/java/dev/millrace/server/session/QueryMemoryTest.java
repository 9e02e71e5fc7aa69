package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What queries may hold, as roles and the engine say. */
@Timeout(120)
final class QueryMemoryTest {
    private static final String SORTED =
            "SELECT i, repeat('x', 100) FROM generate_series(1, 300000) AS g(i) ORDER BY -i";

    private static Database open(long memoryBytes, Optional<Path> data) {
        DatabaseOptions options = DatabaseOptions.defaults()
                .withEngine(EngineOptions.defaults()
                        .withWorkers(2)
                        .withMemoryLimitBytes(memoryBytes)
                        .withSpillLimitBytes(0));
        return Database.open(data.map(options::withData).orElse(options));
    }

    private static MillraceException failure(Session session, String sql) {
        MillraceException why =
                assertThrows(MillraceException.class, () -> session.execute(sql).drain());
        assertEquals(SqlState.OUT_OF_MEMORY, why.sqlState());
        return why;
    }

    @Test
    void aSelectOfARoleWithALimitEndsBeforeItHoldsMoreAndTheSessionGoesOn() {
        try (Database database = open(256L << 20, Optional.empty())) {
            database.execute("CREATE USER ann; ALTER ROLE ann SET max_query_memory = '4MB'");
            try (Session session = database.session("ann")) {
                String why = failure(session, SORTED).getMessage();
                assertTrue(
                        why.matches(
                                "row 1: a SELECT needs .* more than its limit: max_query_memory is 4096 kB, its largest parts"
                                        + " are .*"),
                        why);
                session.execute("SELECT 1").drain();
            }
            try (Session unlimited = database.session()) {
                unlimited.execute(SORTED).drain();
            }
        }
    }

    @Test
    void aSelectThatTakesAllGivesWayAndAViewStays() {
        try (Database database = open(32L << 20, Optional.empty());
                Session session = database.session()) {
            session.execute("CREATE TABLE t (a INT); INSERT INTO t SELECT i FROM generate_series(1, 1000) g(i);"
                            + "CREATE MATERIALIZED VIEW v AS SELECT a % 10 AS k, count(*) AS n FROM t GROUP BY a % 10")
                    .drain();
            String why = failure(session, SORTED).getMessage();
            assertTrue(
                    why.contains("out of memory: memory_limit is 32 MB, and a SELECT gives way because it holds most;"
                            + " the largest users are a SELECT "),
                    why);
            session.execute("INSERT INTO t VALUES (3)").drain();
            assertEquals(QueryState.RUNNING, database.state("v").orElseThrow());
        }
    }

    @Test
    void theLimitOfTheOwnersRoleHoldsAfterARestart(@TempDir Path directory) {
        try (Database database = open(256L << 20, Optional.of(directory));
                Session owner = database.session()) {
            owner.execute("CREATE USER ann; GRANT CREATE ON SCHEMA public TO ann; CREATE STREAM s (a INT, b TEXT);"
                            + "GRANT SELECT ON s TO ann; ALTER ROLE ann SET max_query_memory = '2MB'")
                    .drain();
            try (Session session = database.session("ann")) {
                session.execute("CREATE MATERIALIZED VIEW v AS SELECT a, b FROM s")
                        .drain();
            }
        }
        try (Database database = open(256L << 20, Optional.of(directory));
                Session session = database.session()) {
            session.execute("INSERT INTO s SELECT i, repeat('x', 100) FROM generate_series(1, 100000) g(i)")
                    .drain();
            Eventually.holds("the view is stopped", () -> database.state("v").orElseThrow() == QueryState.FAILED);
            MillraceException why = failure(session, "SELECT count(*) FROM v");
            assertTrue(why.getMessage().contains("max_query_memory is 2048 kB"), why::getMessage);
        }
    }

    @Test
    void theLimitHoldsAfterResume() {
        try (Database database = open(256L << 20, Optional.empty());
                Session limited = database.session();
                Session session = database.session()) {
            String much = "INSERT INTO s SELECT i, repeat('x', 100) FROM generate_series(1, 100000) g(i)";
            limited.execute("CREATE STREAM s (a INT, b TEXT); SET max_query_memory = '2MB';"
                            + "CREATE MATERIALIZED VIEW v AS SELECT a, b FROM s")
                    .drain();
            session.execute(much).drain();
            Eventually.holds("the view is stopped", () -> database.state("v").orElseThrow() == QueryState.FAILED);
            limited.execute("RESUME MATERIALIZED VIEW v").drain();
            session.execute("INSERT INTO s VALUES (1, 'one')").drain();
            assertEquals(QueryState.RUNNING, database.state("v").orElseThrow());
            session.execute(much).drain();
            Eventually.holds("it is stopped again", () -> database.state("v").orElseThrow() == QueryState.FAILED);
        }
    }

    /** Rows that an aggregate of the user's refuses wait on the Java heap until they are taken back. */
    @Test
    void theLimitHoldsForWhatUsersCodeRefuses(@TempDir Path folder) throws IOException {
        Path jar = TestJar.of("""
                package org.example;

                import dev.millrace.udf.AggregateFunction;

                public final class Code implements AggregateFunction<long[]> {
                    public long[] create() { return new long[1]; }
                    public long[] accumulate(long[] state, Object[] arguments) {
                        throw new IllegalArgumentException("none of " + arguments[0]);
                    }
                    public Object result(long[] state) { return 0L; }
                    public long[] retract(long[] state, Object[] arguments) { return state; }
                }
                """, folder);
        try (Database database = open(256L << 20, Optional.empty());
                Session session = database.session()) {
            session.execute("CREATE FUNCTION picky(TEXT) RETURNS BIGINT LANGUAGE JAVA AS '" + jar
                            + "', 'org.example.Code'; CREATE TABLE t (k INT, x TEXT); SET max_query_memory = '8MB';"
                            + "CREATE MATERIALIZED VIEW v AS SELECT k, picky(x) FROM t GROUP BY k")
                    .drain();
            for (int round = 0; round < 20 && database.state("v").orElseThrow() != QueryState.FAILED; round++) {
                session.execute("INSERT INTO t SELECT i, repeat('x', 300) || " + round
                                + " FROM generate_series(1, 2000) g(i)")
                        .drain();
                session.execute("FLUSH").drain();
            }
            Eventually.holds("the view is stopped", () -> database.state("v").orElseThrow() == QueryState.FAILED);
            String why = failure(session, "SELECT count(*) FROM v").getMessage();
            assertTrue(why.contains("max_query_memory is 8192 kB"), why);
        }
    }

    private static long number(Session session, String sql) {
        try (StatementResults results = session.execute(sql)) {
            return Long.parseLong(
                    TestDatabase.texts((StatementResult.Rows) results.next()).get(0));
        }
    }

    /** Wherever memory ends, the rows of a statement are everywhere or nowhere, in whatever did not give way. */
    @ParameterizedTest
    @ValueSource(ints = {14, 16, 17, 18, 20, 22, 26, 32})
    void rowsThatThereIsNoMemoryForAreNowhere(int megabytes) {
        int rows = 100_000;
        try (Database database = open((long) megabytes << 20, Optional.empty());
                Session session = database.session()) {
            session.execute(
                            "CREATE TABLE t (id BIGINT, v BIGINT, x TEXT);"
                                    + "CREATE MATERIALIZED VIEW copied AS SELECT id, v FROM t;"
                                    + "CREATE MATERIALIZED VIEW summed AS SELECT count(*) AS n, sum(v) AS s FROM t;"
                                    + "CREATE MATERIALIZED VIEW grouped AS SELECT id % 1000 AS k, count(*) AS n FROM t GROUP BY 1")
                    .drain();
            int taken = 0;
            boolean isFull = false;
            while (!isFull) {
                try {
                    session.execute("INSERT INTO t SELECT g, g, 'row ' || g FROM generate_series(1, " + rows + ") g")
                            .drain();
                    taken++;
                } catch (MillraceException e) {
                    assertEquals(SqlState.OUT_OF_MEMORY, e.sqlState());
                    isFull = true;
                }
            }
            long all = (long) taken * rows;
            assertEquals(all, number(session, "SELECT count(*) FROM t"));
            Map<String, String> counts = Map.of(
                    "copied", "SELECT count(*) FROM copied",
                    "summed", "SELECT n FROM summed",
                    "grouped", "SELECT coalesce(sum(n), 0) FROM grouped");
            counts.forEach((view, count) -> {
                if (database.state(view).orElseThrow() == QueryState.RUNNING) {
                    assertEquals(all, number(session, count), view);
                }
            });
        }
    }
}
