package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.QuerySnapshot;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a view shows right after it was created, over constants and over tables, to whoever reads it. */
@Timeout(120)
class FirstAnswerTest {
    private static final int ROUNDS = 12;
    private static final String TABLES = "CREATE TABLE t (k INT PRIMARY KEY, v INT); CREATE TABLE empty_table (k INT);"
            + " INSERT INTO t VALUES (1, 10), (2, 20), (3, 30), (4, NULL)";
    private static final List<String> QUERIES = List.of(
            "VALUES (1, 'a'), (2, 'b')",
            "SELECT g, g * g AS q FROM generate_series(1, 3000) g WHERE g % 500 = 0",
            "SELECT k, v FROM t WHERE (SELECT true)",
            "SELECT k, v FROM t WHERE k NOT IN (SELECT x FROM (VALUES (1), (2)) c(x))",
            "SELECT k, v FROM t WHERE k NOT IN (SELECT x FROM (VALUES (1), (2), (NULL)) c(x))",
            "SELECT k, v FROM t WHERE NOT EXISTS (SELECT 1 FROM (VALUES (1), (3)) c(x) WHERE x = k)",
            "SELECT t.k, c.name FROM t JOIN (VALUES (1, 'one'), (3, 'three')) c(k, name) ON t.k = c.k",
            "SELECT t.k, c.name FROM t LEFT JOIN (VALUES (1, 'one'), (3, 'three')) c(k, name) ON t.k = c.k",
            "SELECT k, v FROM t UNION ALL SELECT 0, 0",
            "SELECT sum(v) AS s FROM (SELECT v FROM t UNION ALL VALUES (1000), (2000)) u",
            "SELECT k FROM t EXCEPT VALUES (2), (9)",
            "SELECT count(*) AS n FROM empty_table",
            "SELECT c.x, count(e.k) AS n FROM (VALUES (1), (2)) c(x) LEFT JOIN empty_table e ON e.k = c.x GROUP BY c.x");

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aViewReadAtOnceHasTheBatchAnswerForAllSessions(int workers) throws InterruptedException {
        AtomicBoolean stop = new AtomicBoolean();
        Thread busy = new Thread(() -> {
            while (!stop.get()) {
                long end = System.nanoTime() + 2_000_000;
                while (System.nanoTime() - end < 0) {
                    Thread.onSpinWait(); // so that workers are without a core now and then
                }
                LockSupport.parkNanos(4_000_000);
            }
        });
        busy.start();
        try (TestDatabase database = new TestDatabase(workers)) {
            database.run(TABLES);
            for (int round = 0; round < ROUNDS; round++) {
                for (String query : QUERIES) {
                    List<String> answer = database.rows(query);
                    database.run("CREATE MATERIALIZED VIEW q AS " + query);
                    assertEquals(answer, readByOther(database), query);
                    assertEquals(answer, database.rows("SELECT * FROM q"), query);
                    database.run("CREATE MATERIALIZED VIEW again AS SELECT * FROM q");
                    assertEquals(answer, database.rows("SELECT * FROM again"), "again " + query);
                    database.run("DROP VIEW again; DROP VIEW q");
                }
            }
        } finally {
            stop.set(true);
            busy.join();
        }
    }

    /** By a session that has made nothing to wait for. */
    private static List<String> readByOther(TestDatabase database) {
        try (Session other = database.database().session();
                StatementResults results = other.execute("SELECT * FROM q", List.of())) {
            return TestDatabase.texts((StatementResult.Rows) results.next()).stream()
                    .sorted()
                    .toList();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void constantsThatComeWithAlterAreInTheAnswer(int workers) {
        try (TestDatabase database = new TestDatabase(workers)) {
            database.run("CREATE STREAM s (k INT, v INT)");
            database.run("CREATE MATERIALIZED VIEW q AS SELECT k, sum(v) AS s FROM s GROUP BY k");
            database.run("INSERT INTO s VALUES (1, 10), (2, 20), (1, 5)");
            database.run(
                    "ALTER MATERIALIZED VIEW q AS SELECT k, sum(v) AS s FROM s GROUP BY k UNION ALL VALUES (0, 7::bigint)");
            assertEquals(List.of("0|7", "1|15", "2|20"), database.rows("SELECT * FROM q"));
            database.run("ALTER MATERIALIZED VIEW q AS SELECT k, sum(v) AS s FROM s GROUP BY k"
                    + " HAVING k NOT IN (SELECT x FROM (VALUES (2)) c(x))");
            assertEquals(List.of("1|15"), database.rows("SELECT * FROM q"));
            database.run("INSERT INTO s VALUES (1, 1), (2, 1)");
            assertEquals(List.of("1|16"), database.rows("SELECT * FROM q"));
        }
    }

    private static final String WITH_FINISHED = "SELECT s.k, count(*) AS n FROM s JOIN finished f ON f.k = s.k"
            + " GROUP BY s.k UNION ALL SELECT -1, sum(k) FROM (SELECT k FROM finished UNION ALL SELECT k FROM s) a"
            + " UNION ALL VALUES (-2, 1::bigint)";

    /** A view that has ended and constants are in the state that is restored. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aRestoredViewReadsWhatHasEndedOnlyOnce(int workers) {
        QuerySnapshot snapshot;
        PlanNode plan;
        try (TestDatabase database = overFinished(workers)) {
            database.run("INSERT INTO s VALUES (1), (1), (3)");
            StandingQuery query = database.database().engine().query("q");
            database.session().flush();
            assertEquals(List.of("-1|8", "-2|1", "1|2"), database.rows("SELECT * FROM q"));
            snapshot = query.snapshot();
            plan = query.plan();
        }
        try (TestDatabase database = overFinished(workers)) {
            database.database().engine().query("q").drop();
            database.database().engine().start("q", plan, QueryOptions.view().withRestore(snapshot));
            assertEquals(List.of("-1|8", "-2|1", "1|2"), database.rows("SELECT * FROM q"));
            database.run("INSERT INTO s VALUES (1), (2)");
            assertEquals(List.of("-1|11", "-2|1", "1|3", "2|1"), database.rows("SELECT * FROM q"));
        }
    }

    private static TestDatabase overFinished(int workers) {
        TestDatabase database = new TestDatabase(workers);
        database.run("CREATE STREAM s (k INT)");
        database.run("CREATE MATERIALIZED VIEW finished AS SELECT k FROM (VALUES (1), (2)) c(k)");
        assertEquals(
                QueryState.FINISHED,
                database.database().engine().query("finished").await());
        database.run("CREATE MATERIALIZED VIEW q AS " + WITH_FINISHED);
        return database;
    }
}
