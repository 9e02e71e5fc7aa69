package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.QuerySnapshot;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.plan.node.PlanNode;
import java.util.List;
import java.util.SplittableRandom;
import java.util.StringJoiner;
import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Views that go on from a snapshot in another database, with another number of workers. */
final class RestoreTest {
    private static final String STREAM =
            "CREATE STREAM s (k INT, v INT, x INT, t TIMESTAMP NOT NULL, WATERMARK FOR t AS t)";
    private static final String CLOSING = ", (0, 0, 0, TIMESTAMP '2020-01-01 01:00:00')"; // all windows of the others
    private static final List<String> QUERIES = List.of(
            "SELECT k, count(DISTINCT v) AS d, count(*) AS n, max(x) AS m FROM s GROUP BY k",
            "SELECT k, count(DISTINCT v) AS d, count(DISTINCT x) FILTER (WHERE v > 3) AS e FROM s GROUP BY k",
            "SELECT count(DISTINCT v) AS d, sum(DISTINCT x) AS e FROM s",
            "SELECT k, sum(n) AS n, max(d) AS d FROM (SELECT k, v, count(*) AS n, count(DISTINCT x) AS d"
                    + " FROM s GROUP BY k, v) AS parts GROUP BY k",
            "SELECT k, avg(x) AS a, min(v) AS v FROM s GROUP BY k",
            "SELECT DISTINCT k, v FROM s",
            "SELECT k, window_start, sum(x) AS a FROM TABLE(HOP(TABLE s, DESCRIPTOR(t), INTERVAL '1' SECOND,"
                    + " INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end",
            "SELECT k, window_start, sum(CASE WHEN random() BETWEEN 0 AND 1 THEN x END) AS a, percentile_disc(0.5) WITHIN GROUP"
                    + " (ORDER BY v) AS p FROM TABLE(HOP(TABLE s, DESCRIPTOR(t), INTERVAL '1' SECOND, INTERVAL '5' SECOND))"
                    + " GROUP BY k, window_start, window_end");

    private static String insert(RandomGenerator random, int rows) {
        StringJoiner values = new StringJoiner(", ", "INSERT INTO s VALUES ", "");
        for (int i = 0; i < rows; i++) {
            values.add("(" + random.nextInt(12) + ", " + random.nextInt(40) + ", " + random.nextInt(100)
                    + ", TIMESTAMP '2020-01-01 00:00:00')");
        }
        return values.toString();
    }

    @ParameterizedTest
    @CsvSource({"1, 2", "1, 3", "2, 1", "2, 2", "2, 3", "3, 1", "3, 2"})
    void aViewGoesOnWithAnotherNumberOfWorkers(int before, int after) {
        for (String query : QUERIES) {
            RandomGenerator random = new SplittableRandom(before * 10L + after);
            String early = insert(random, 300);
            String late = insert(random, 200) + CLOSING;
            QuerySnapshot snapshot;
            PlanNode plan;
            try (TestDatabase database = new TestDatabase(before)) {
                database.run(STREAM);
                database.run("CREATE MATERIALIZED VIEW answer AS " + query);
                database.run(early);
                database.session().flush();
                StandingQuery running = database.database().engine().query("answer");
                snapshot = running.snapshot();
                plan = running.plan();
            }
            try (TestDatabase database = new TestDatabase(after)) {
                database.run(STREAM);
                database.run("CREATE MATERIALIZED VIEW whole AS " + query);
                database.run(early);
                database.session().flush();
                database.run("CREATE MATERIALIZED VIEW answer AS " + query);
                database.database().engine().query("answer").drop();
                StandingQuery restored = database.database()
                        .engine()
                        .start("answer", plan, QueryOptions.view().withRestore(snapshot));
                database.run(late);
                database.session().flush();
                assertEquals(QueryState.RUNNING, restored.state());
                List<String> whole = database.rows("SELECT * FROM whole");
                assertFalse(whole.isEmpty(), query);
                assertEquals(whole, database.rows("SELECT * FROM answer"), query);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aFinishedViewIsRestoredWithItsAnswer(int workers) {
        QuerySnapshot snapshot;
        PlanNode plan;
        List<String> answer;
        try (TestDatabase database = new TestDatabase(workers)) {
            database.run("CREATE STREAM b WITH (connector = 'nexmark', \"table\" = 'bid', events = 5000)");
            database.run("CREATE MATERIALIZED VIEW answer AS SELECT auction, count(*) AS n FROM b GROUP BY auction");
            StandingQuery query = database.database().engine().query("answer");
            assertEquals(QueryState.FINISHED, query.await());
            snapshot = query.snapshot();
            plan = query.plan();
            answer = database.rows("SELECT * FROM answer");
        }
        try (TestDatabase database = new TestDatabase(workers)) {
            database.run("CREATE STREAM b WITH (connector = 'nexmark', \"table\" = 'bid', events = 5000)");
            database.run("CREATE MATERIALIZED VIEW answer AS SELECT auction, count(*) AS n FROM b GROUP BY auction");
            database.database().engine().query("answer").drop();
            StandingQuery query = database.database()
                    .engine()
                    .start("answer", plan, QueryOptions.view().withRestore(snapshot));
            assertEquals(QueryState.FINISHED, query.await());
            assertEquals(answer, database.rows("SELECT * FROM answer"));
        }
    }
}
