package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.batch;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.project;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.view;
import static dev.millrace.engine.runtime.TestPlans.zset;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.epoch.Journal;
import dev.millrace.engine.heap.HeapBudget;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.scheduler.SchedulingPolicies;
import dev.millrace.scheduler.WorkerThreads;
import dev.millrace.testing.rows.Row;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class HeapBudgetTest {
    private static final Schema KV = longs("k", "v");
    private static final long MB = 1 << 20;

    /** A heap of 100 MB. */
    private static final class ScriptedHeap implements HeapBudget.Heap {
        long used;
        long garbage;
        int collections;
        long nanos;

        @Override
        public long mostBytes() {
            return 100 * MB;
        }

        @Override
        public long usedBytes() {
            return used + garbage;
        }

        @Override
        public long collections() {
            return collections;
        }

        @Override
        public void collect() {
            collections++;
            garbage = 0;
        }

        @Override
        public long nanoTime() {
            return nanos;
        }
    }

    private final ScriptedHeap heap = new ScriptedHeap();

    @Test
    void withRoomNothingIsCollected() {
        heap.used = 45 * MB;
        HeapBudget budget = new HeapBudget(heap);
        budget.take("q", MB);
        assertEquals(0, heap.collections);
    }

    @Test
    void garbageIsNoReasonToRefuse() {
        heap.used = 10 * MB;
        heap.garbage = 85 * MB;
        HeapBudget budget = new HeapBudget(heap);
        budget.take("q", MB);
        assertEquals(1, heap.collections);
    }

    @Test
    void beyondHalfNoneIsStartedAndTheErrorSaysWhatToDo() {
        heap.used = 80 * MB;
        HeapBudget budget = new HeapBudget(heap);
        MillraceException why = assertThrows(MillraceException.class, () -> budget.take("q", MB));
        assertEquals(SqlState.OUT_OF_MEMORY, why.sqlState());
        assertEquals(
                "no room for query \"q\" on the Java heap: it would take about 1024 kB, and of 100 MB there are 80 MB in use,"
                        + " the most with which queries are started is 50 MB",
                why.getMessage());
        assertTrue(why.hint().orElseThrow().contains("-Xmx"));
    }

    @Test
    void collectionsAreNotAskedForByEachThatIsRefused() {
        heap.used = 80 * MB;
        HeapBudget budget = new HeapBudget(heap);
        for (int i = 0; i < 1_000; i++) {
            assertThrows(MillraceException.class, () -> budget.take("q", MB));
        }
        assertEquals(1, heap.collections);
        heap.nanos += 6_000_000_000L;
        heap.used = 10 * MB; // they were dropped
        heap.garbage = 70 * MB;
        budget.take("q", MB);
        assertEquals(2, heap.collections);
    }

    /** A server with a few queries need never stand still for them. */
    @Test
    void garbageOfOthersIsNoReasonToCollectWhereQueriesHaveTakenLittle() {
        heap.used = 10 * MB;
        HeapBudget budget = new HeapBudget(heap);
        heap.garbage = 70 * MB;
        for (int i = 0; i < 1_000; i++) {
            HeapBudget.Taken taken = budget.started(budget.take("q", MB), 3 * MB);
            budget.take("for good", 8 << 10);
            budget.give(taken);
            heap.nanos += 9_000_000_000L;
        }
        assertEquals(0, heap.collections);
    }

    @Test
    void whatIsKnownIsLookedAtAgainWhenMuchMayHaveBeenTaken() {
        heap.used = 10 * MB;
        HeapBudget budget = new HeapBudget(heap);
        heap.garbage = 70 * MB;
        for (int i = 0; i < 8; i++) {
            budget.started(budget.take("q", MB), 5 * MB);
            heap.used += 5 * MB;
        }
        assertEquals(0, heap.collections);
        assertThrows(MillraceException.class, () -> budget.take("q", MB));
        assertEquals(1, heap.collections);
    }

    /** What they had is part of what was in use then. */
    @Test
    void whoStartedBeforeTheLastCollectionLeavesNoRoomBeforeTheNext() {
        heap.used = 30 * MB;
        HeapBudget budget = new HeapBudget(heap);
        heap.garbage = 30 * MB;
        HeapBudget.Taken first = budget.take("q", 15 * MB);
        HeapBudget.Taken second = budget.take("q", 4 * MB);
        heap.used += 14 * MB;
        assertEquals(0, heap.collections);
        budget.take("q", 2 * MB);
        assertEquals(1, heap.collections);
        heap.garbage = 10 * MB;
        budget.give(first);
        budget.give(second);
        assertThrows(MillraceException.class, () -> budget.take("q", 5 * MB));
        heap.used -= 14 * MB;
        heap.garbage = 30 * MB;
        heap.nanos += 6_000_000_000L;
        budget.take("q", 5 * MB);
        assertEquals(2, heap.collections);
    }

    /** The old query and the new one run side by side until the new one has the state of both. */
    @Test
    void altersNoQueryWithoutRoomForTwo() {
        heap.used = 10 * MB;
        HeapBudget budget = new HeapBudget(heap);
        try (LocalEngine engine = new LocalEngine(
                EngineOptions.defaults().withWorkers(1),
                Clock.system(),
                new WorkerThreads(1, SchedulingPolicies.named("fcfs"), Clock.system()),
                LocalEngine.newSinkThreads(),
                TestOperators::create,
                Journal.NONE,
                budget)) {
            WritableRelation stream = engine.relations().addStream("s", KV);
            engine.start("q", scan("s", KV), QueryOptions.view());
            budget.take("others", 40 * MB);
            heap.used = 80 * MB;
            PlanNode altered = project(scan("s", KV), 1);
            MillraceException why =
                    assertThrows(MillraceException.class, () -> engine.alter("q", altered, QueryOptions.view()));
            assertEquals(SqlState.OUT_OF_MEMORY, why.sqlState());
            assertTrue(why.getMessage().contains("no room for query \"q\""), why.getMessage());
            engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 7))));
            assertEquals(zset(Row.of(1L, 7L)), view(engine, "q"), "it goes on as it was");
            heap.used = 10 * MB;
            heap.nanos += 6_000_000_000L;
            assertEquals(
                    QueryState.RUNNING,
                    engine.alter("q", altered, QueryOptions.view()).state());
        }
    }

    /** Right after a collection that left little: what is started before the next one counts by its estimate. */
    @Test
    void whatIsStartedBetweenTwoCollectionsCountsByItsEstimate() {
        heap.used = 25 * MB;
        heap.garbage = 30 * MB;
        HeapBudget budget = new HeapBudget(heap);
        int started = 0;
        try {
            while (started < 1_000) {
                budget.take("q", MB);
                heap.used += MB;
                heap.garbage += 29 * MB - heap.garbage;
                started++;
            }
        } catch (MillraceException e) {
            assertEquals(SqlState.OUT_OF_MEMORY, e.sqlState());
        }
        assertEquals(25, started);
        assertEquals(1, heap.collections);
    }

    /** What planning made of a long list stays with the query, however few operators it has. */
    @Test
    void constantsAreCountedWhereverTheyAre() {
        int count = 100_000;
        Expression.Column k = new Expression.Column(0, DataType.BIGINT, true);
        List<Expression> list = new ArrayList<>(List.of(k));
        List<List<Expression>> rows = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            list.add(new Expression.Literal(i, DataType.BIGINT));
            rows.add(List.of(list.get(list.size() - 1), k));
        }
        PlanNode scan = scan("s", KV);
        Expression in = new Expression.Call("in", list, DataType.BOOLEAN, true);
        Expression nested = new Expression.Case(
                List.of(new Expression.Case.Branch(in, new Expression.Cast(in, DataType.BOOLEAN))),
                new Expression.Literal(List.copyOf(Collections.nCopies(count, 1L)), DataType.array(DataType.BIGINT)),
                DataType.BOOLEAN,
                true);
        long few = HeapBudget.estimate(project(scan, 0), 1);
        assertTrue(few < 50_000, few + " bytes");
        for (PlanNode plan : List.of(
                new PlanNode.Calc(scan, Optional.of(in), List.of(k), longs("k")),
                new PlanNode.Calc(scan, Optional.empty(), List.of(in), longs("k")),
                new PlanNode.Calc(
                        project(new PlanNode.Values(rows, KV), 0), Optional.empty(), List.of(k), longs("k")))) {
            assertTrue(
                    HeapBudget.estimate(plan, 1) > 80L * count, plan.getClass().getSimpleName());
        }
        PlanNode all = new PlanNode.Calc(scan, Optional.of(nested), List.of(k), longs("k"));
        assertTrue(HeapBudget.estimate(all, 1) > 3 * 80L * count);
    }
}
