package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.scheduler.SchedulingPolicies;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whose turn it is: who decides, and what is shown of it. */
final class SchedulerTest {
    private TestDatabase db;

    @BeforeEach
    void open() {
        db = new TestDatabase();
        db.run("CREATE STREAM s (k INTEGER, at TIMESTAMP, WATERMARK FOR at AS at)");
        db.run("""
                CREATE MATERIALIZED VIEW windows AS SELECT window_end, k, count(*) AS n
                FROM TUMBLE(TABLE s, DESCRIPTOR(at), INTERVAL '10 seconds') GROUP BY window_start, window_end, k
                """);
        db.run("CREATE MATERIALIZED VIEW plain WITH (priority = 5) AS SELECT k, count(*) AS n FROM s GROUP BY k");
    }

    @AfterEach
    void close() {
        db.close();
    }

    private void insert(int fromSecond, int toSecond) {
        for (int second = fromSecond; second < toSecond; second += 5) {
            db.run("INSERT INTO s SELECT x % 3, TIMESTAMP '2026-01-01 00:00:00' + INTERVAL '1 second' * " + second
                    + " FROM generate_series(1, 300) g(x)");
        }
    }

    @Test
    void everyPolicyGivesTheSameAnswers() {
        int second = 0;
        for (String policy : SchedulingPolicies.names()) {
            db.run("SET scheduling_policy = '" + policy + "'");
            assertEquals(List.of(policy), db.rows("SELECT policy FROM millrace.scheduler"));
            insert(second, second + 20);
            second += 20;
            assertEquals(List.of((second / 5 * 300) + ""), db.rows("SELECT sum(n) FROM plain"), policy);
            assertEquals(
                    List.of((second / 10 - 1) + "|200|200"),
                    db.rows("SELECT count(*), min(n), max(n) FROM windows WHERE k = 0"),
                    policy);
        }
    }

    @Test
    void whatTasksWaitForAndWhatIsExpectedOfWindowsIsShown() {
        insert(0, 100);
        db.rows("SELECT count(*) FROM windows");
        assertEquals(
                List.of("t|t|t|t"),
                db.rows(
                        "SELECT decisions > 0, mean_wait_ms >= 0, estimates > 5, estimates_right <= estimates FROM millrace.scheduler"));
        assertEquals(
                List.of("plain|f", "windows|t"),
                db.rows(
                        "SELECT query, max(slack_seconds) IS NOT NULL FROM millrace.operator_stats GROUP BY query ORDER BY query"));
        assertEquals(
                List.of("t|t|t"),
                db.rows(
                        "SELECT bool_and(utilisation BETWEEN 0 AND 1), sum(schedule_seconds) > 0, sum(queued_rows) >= 0 FROM millrace.operator_stats"));
        assertEquals(
                List.of("windows|t"),
                db.rows("SELECT query, estimates > 5 FROM millrace.watermarks WHERE estimates > 0"));
    }
}
