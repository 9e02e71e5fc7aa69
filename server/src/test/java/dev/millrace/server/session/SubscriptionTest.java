package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.testing.time.Eventually;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** SUBSCRIBE, and stopping what runs. */
@Timeout(120)
class SubscriptionTest {
    private static final long WAIT_MICROS = 60_000_000;

    private TestDatabase db;

    @BeforeEach
    void open() {
        db = new TestDatabase();
        db.run("CREATE STREAM s (k TEXT, n BIGINT)");
    }

    @AfterEach
    void close() {
        db.close();
    }

    /** The next epoch as lines, such as {@code +a|1}, sorted. */
    private static List<String> next(StatementResult.Changes changes) {
        List<String> lines = new ArrayList<>();
        Optional<EpochChanges> next = changes.next(WAIT_MICROS);
        assertTrue(next.isPresent(), "nothing came");
        try (EpochChanges epoch = next.get()) {
            for (Batch batch : epoch.batches()) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    int at = row;
                    long weight =
                            batch.weights().map(weights -> weights.get(at)).orElse(1L);
                    lines.add((weight < 0 ? "-" : "+") + TestDatabase.text(batch, row));
                }
            }
        }
        return lines.stream().sorted().toList();
    }

    @Test
    void aSubscriberOfAViewSeesItsRowsAndThenEachChange() {
        db.run("CREATE MATERIALIZED VIEW v AS SELECT k, sum(n) AS total FROM s GROUP BY k");
        db.run("INSERT INTO s VALUES ('a', 1), ('b', 2)");
        db.rows("SELECT * FROM v");
        try (Session other = db.database().session();
                StatementResults results = other.execute("SUBSCRIBE TO v WITH (SNAPSHOT)")) {
            StatementResult.Changes changes = (StatementResult.Changes) results.next();
            assertFalse(changes.appendOnly());
            assertEquals(List.of("+a|1", "+b|2"), next(changes));
            db.run("INSERT INTO s VALUES ('a', 10)");
            assertEquals(List.of("+a|11", "-a|1"), next(changes));
        }
    }

    @Test
    void aSubscriberOfAStreamSeesWhatComes() {
        try (Session other = db.database().session();
                StatementResults results = other.execute("SUBSCRIBE TO s")) {
            StatementResult.Changes changes = (StatementResult.Changes) results.next();
            assertTrue(changes.appendOnly());
            db.run("INSERT INTO s VALUES ('a', 1)");
            assertEquals(List.of("+a|1"), next(changes));
            assertEquals(Optional.empty(), changes.next(10_000));
        }
        assertEquals(List.of(), db.rows("SELECT query FROM millrace.query_stats"), "it went with its subscriber");
        db.run("DROP STREAM s");
    }

    @Test
    void aSubscriptionToSomethingFiniteEnds() {
        db.run("CREATE STREAM g (n BIGINT) WITH (connector = 'datagen', rows = 1000)");
        long rows = 0;
        try (StatementResults results = db.session().execute("SUBSCRIBE TO g")) {
            StatementResult.Changes changes = (StatementResult.Changes) results.next();
            while (!changes.isFinished()) {
                Optional<EpochChanges> next = changes.next(100_000);
                if (next.isPresent()) {
                    try (EpochChanges epoch = next.get()) {
                        rows += epoch.batches().stream()
                                .mapToLong(Batch::rowCount)
                                .sum();
                    }
                }
            }
        }
        assertEquals(1000, rows);
    }

    @Test
    void onlyWhatKeepsRowsHasASnapshot() {
        assertTrue(db.error("SUBSCRIBE TO s WITH (SNAPSHOT)").startsWith("55000 "));
        db.run("CREATE CONTINUOUS QUERY q AS SELECT k FROM s");
        assertTrue(db.error("SUBSCRIBE TO q WITH (SNAPSHOT)").startsWith("55000 "));
    }

    @Test
    void systemRelationsCannotBeFollowed() {
        assertTrue(db.error("SUBSCRIBE TO millrace.query_stats").startsWith("42809 "));
        assertTrue(db.error("CREATE MATERIALIZED VIEW v AS SELECT count(*) FROM millrace.query_stats")
                .startsWith("42809 "));
    }

    @Test
    void cancelStopsAWaitingSubscriber() {
        try (StatementResults results = db.session().execute("SUBSCRIBE TO s")) {
            StatementResult.Changes changes = (StatementResult.Changes) results.next();
            MillraceException error = cancelled(() -> changes.next(WAIT_MICROS));
            assertEquals(SqlState.QUERY_CANCELED, error.sqlState());
        }
        assertEquals(List.of("1"), db.rows("SELECT 1"), "the session goes on");
    }

    @Test
    void aCancelBetweenTwoReadsFailsTheNext() {
        db.run("CREATE CONTINUOUS QUERY q AS SELECT k FROM s");
        for (String sql : List.of("SUBSCRIBE TO s", "SUBSCRIBE TO q")) {
            try (StatementResults results = db.session().execute(sql)) {
                StatementResult.Changes changes = (StatementResult.Changes) results.next();
                assertEquals(Optional.empty(), changes.next(1));
                db.session().cancel("statement timeout");
                MillraceException error = assertThrows(MillraceException.class, () -> changes.next(WAIT_MICROS));
                assertEquals(SqlState.QUERY_CANCELED, error.sqlState());
                assertTrue(error.getMessage().endsWith("statement timeout"), error.getMessage());
            }
            assertEquals(List.of("1"), db.rows("SELECT 1"), "the session goes on");
        }
    }

    @Test
    void cancelStopsALongSelectAndAFlush() {
        db.run("CREATE STREAM g (n BIGINT) WITH (connector = 'datagen', rows = 4000000000)");
        assertEquals(
                SqlState.QUERY_CANCELED,
                cancelled(() -> db.run("SELECT count(*), sum(n % 7) FROM g")).sqlState());
        db.run("CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n, sum(n % 7) AS m FROM g");
        assertEquals(SqlState.QUERY_CANCELED, cancelled(() -> db.run("FLUSH")).sqlState());
        db.run("DROP MATERIALIZED VIEW v");
        assertEquals(List.of("1"), db.rows("SELECT 1"), "the session goes on");
    }

    private MillraceException cancelled(Executable statement) {
        try (Eventually.Repeated cancelling =
                Eventually.repeat(() -> db.session().cancel())) {
            return assertThrows(MillraceException.class, statement);
        }
    }
}
