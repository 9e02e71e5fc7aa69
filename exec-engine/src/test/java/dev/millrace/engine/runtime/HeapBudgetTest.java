package dev.millrace.engine.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import org.junit.jupiter.api.Test;

final class HeapBudgetTest {
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
    private final HeapBudget budget = new HeapBudget(heap);

    @Test
    void withRoomNothingIsCollected() {
        heap.used = 45 * MB;
        budget.take("q", MB);
        assertEquals(0, heap.collections);
    }

    @Test
    void garbageIsNoReasonToRefuse() {
        heap.used = 10 * MB;
        heap.garbage = 85 * MB;
        budget.take("q", MB);
        assertEquals(1, heap.collections);
    }

    @Test
    void beyondHalfNoneIsStartedAndTheErrorSaysWhatToDo() {
        heap.used = 80 * MB;
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

    /** Right after a collection that left little: what is started before the next one counts by its estimate. */
    @Test
    void whatIsStartedBetweenTwoCollectionsCountsByItsEstimate() {
        heap.used = 25 * MB;
        heap.garbage = 30 * MB;
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
}
