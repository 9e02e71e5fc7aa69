package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.batch;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.project;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.sum;
import static dev.millrace.engine.runtime.TestPlans.view;
import static dev.millrace.engine.runtime.TestPlans.zset;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.time.Eventually;
import dev.millrace.testing.time.OwnThread;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A step that would never end ends when nobody wants its rows any more, and frees its worker: there is one. */
@Timeout(120)
final class StoppingTest {
    private static final Schema KV = longs("k", "v");

    private LocalEngine engine;

    @BeforeEach
    void open() {
        engine = EngineTest.open(1);
    }

    @AfterEach
    void close() {
        engine.close(); // fails if a byte was left
    }

    @Test
    void aQueryOnAStepWithoutEndIsDroppedAndOthersGoOn() {
        WritableRelation endless = engine.relations().addStream("endless", KV);
        WritableRelation stream = engine.relations().addStream("s", KV);
        StandingQuery stuck = engine.start("stuck", project(scan("endless", KV), 0), QueryOptions.view());
        engine.start("sum", sum(scan("s", KV), List.of(), 1), QueryOptions.view());
        endless.append(batch(engine, KV, Row.of(TestOperators.ENDLESS, 1)));
        stuck.drop();
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 7))));
        assertEquals(zset(Row.of(7L)), view(engine, "sum"));
    }

    @Test
    void aResultOnAStepWithoutEndIsCancelled() {
        engine.relations().addSource("src", source(Row.of(TestOperators.ENDLESS, 1)), OnError.FAIL);
        try (Result result = engine.run(project(scan("src", KV), 0))) {
            result.cancel();
            assertEquals(
                    SqlState.QUERY_CANCELED,
                    assertThrows(MillraceException.class, result::next).sqlState());
        }
        engine.relations().addSource("other", source(Row.of(1, 1)), OnError.FAIL);
        assertEquals(zset(Row.of(1L)), TestPlans.answer(engine, project(scan("other", KV), 0)));
    }

    @Test
    void aResultOnAStepWithoutEndIsClosed() {
        engine.relations().addSource("src", source(Row.of(TestOperators.ENDLESS, 1)), OnError.FAIL);
        Result result = engine.run(project(scan("src", KV), 0));
        Eventually.holds("the row is read", () -> result.rowsRead() == 1);
        result.close();
    }

    @Test
    void aQueryOnAStepThatHearsNothingIsDroppedAllTheSame() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        StandingQuery deaf = engine.start("deaf", project(scan("s", KV), 0), QueryOptions.view());
        engine.start("sum", sum(scan("s", KV), List.of(), 1), QueryOptions.view());
        stream.append(batch(engine, KV, Row.of(TestOperators.DEAF, 1)));
        deaf.drop();
        assertEquals(QueryState.DROPPED, deaf.state());
        engine.start("deaf", sum(scan("s", KV), List.of(), 0), QueryOptions.view()); // the name is free
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(3, 7))));
        assertEquals(zset(Row.of(8L)), view(engine, "sum")); // its reader of the same stream is held up no longer
        assertEquals(zset(Row.of(3L)), view(engine, "deaf"));
        TestOperators.hear(); // what it held is freed
    }

    @Test
    void aQueryThatIsAtOneRowForTooLongFailsAndItsNeighboursGoOn() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        StandingQuery slow = engine.start(
                "slow", project(scan("s", KV), 0), QueryOptions.view().withMostRowNanos(1_000_000));
        engine.start("sum", sum(scan("s", KV), List.of(), 1), QueryOptions.view());
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 7), Row.of(TestOperators.ENDLESS, 1))));
        assertEquals(QueryState.FAILED, slow.await());
        MillraceException why = slow.failure().orElseThrow();
        assertEquals(SqlState.QUERY_CANCELED, why.sqlState());
        assertTrue(why.getMessage().contains("row_timeout"), why.getMessage());
        assertEquals(zset(Row.of(8L)), view(engine, "sum"));
    }

    @Test
    void theEngineClosesWhileAStepHearsNothing() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        engine.start("deaf", project(scan("s", KV), 0), QueryOptions.view());
        stream.append(batch(engine, KV, Row.of(TestOperators.DEAF, 1)));
        engine.close();
        TestOperators.hear();
    }

    private static ScriptedSource source(Row row) {
        return ScriptedSource.bounded(KV, List.of(List.of(row)));
    }

    /** A query that is asked to pause in the middle of an epoch that does not end, by a thread that therefore waits. */
    private CompletableFuture<Void> pausing() {
        TestOperators.deafen();
        WritableRelation stream = engine.relations().addStream("s", KV);
        StandingQuery deaf = engine.start("deaf", project(scan("s", KV), 0), QueryOptions.view());
        stream.append(batch(engine, KV, Row.of(TestOperators.DEAF, 1)));
        Eventually.holds("the row is being processed", TestOperators::isDeaf);
        CompletableFuture<Void> pausing = new CompletableFuture<>();
        OwnThread.EACH.execute(() -> {
            try {
                deaf.pause();
                pausing.complete(null);
            } catch (RuntimeException e) {
                pausing.completeExceptionally(e);
            }
        });
        Eventually.holds("others wait", () -> engine.isChanging());
        return pausing;
    }

    @Test
    void whoWaitsForAnotherToChangeTheEngineIsStopped() throws Exception {
        CompletableFuture<Void> pausing = pausing();
        engine.relations().addStream("other", KV);
        Interrupt interrupt = new Interrupt();
        interrupt.stop(MillraceException.user(SqlState.QUERY_CANCELED, "it is cancelled"));
        try (Interrupt.Binding binding = interrupt.bind()) {
            MillraceException why = assertThrows(
                    MillraceException.class,
                    () -> engine.start("sum", sum(scan("other", KV), List.of(), 1), QueryOptions.view()));
            assertEquals("it is cancelled", why.getMessage());
        }
        assertFalse(pausing.isDone()); // it was not the end of the other's wait
        TestOperators.hear();
        pausing.get();
    }

    @Test
    void whoWaitsForAMomentOfRestGivesUpWhenTheEngineCloses() {
        CompletableFuture<Void> pausing = pausing();
        engine.close();
        ExecutionException ended = assertThrows(ExecutionException.class, pausing::get);
        assertEquals(SqlState.ADMIN_SHUTDOWN, ((MillraceException) ended.getCause()).sqlState());
        TestOperators.hear();
    }
}
