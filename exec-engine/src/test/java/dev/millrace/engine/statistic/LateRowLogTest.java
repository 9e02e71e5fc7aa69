package dev.millrace.engine.statistic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.memory.PooledAllocation;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.time.TestClock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class LateRowLogTest {
    private static final Schema SCHEMA =
            new Schema(List.of(new Field("a", DataType.BIGINT, false), new Field("b", DataType.TEXT, true)));

    private final BufferAllocator root = PooledAllocation.newRoot(64 << 20);
    private final BufferAllocator spare = root.newChildAllocator("late rows", 0, Long.MAX_VALUE);
    private final TestClock clock = new TestClock(1_000);
    private final LateRowLog log = new LateRowLog(clock, () -> spare);

    @AfterEach
    void nothingIsLeft() {
        log.close();
        spare.close();
        root.close();
    }

    private void add(long number, String text) {
        try (Batch batch = TestBatches.of(SCHEMA, root, Row.of(number, text))) {
            log.add(batch, new int[] {0}, 1, 5 * number);
        }
    }

    @Test
    void rowsAreKeptAsTextsWithTheirTimes() {
        add(1, "two words");
        clock.advance(7);
        add(2, null);
        assertEquals(List.of(new LateRow(1_000, 5, "(1,\"two words\")"), new LateRow(1_007, 10, "(2,)")), log.rows());
        assertEquals(2, log.count());
    }

    @Test
    void theLastTenThousandAreKeptAndAllAreCounted() {
        for (int i = 0; i < 25_000; i++) {
            add(i, "x");
        }
        List<LateRow> rows = log.rows();
        assertEquals(LateRow.KEPT, rows.size());
        assertEquals("(15000,x)", rows.get(0).row());
        assertEquals("(24999,x)", rows.get(LateRow.KEPT - 1).row());
        assertEquals(25_000, log.count());
        assertTrue(spare.getAllocatedMemory() < 1 << 20, () -> spare.getAllocatedMemory() + " bytes");
    }

    @Test
    void largeRowsTakeABoundedAmountOfMemory() {
        for (int i = 0; i < 100; i++) {
            add(i, "y".repeat(100_000 + i));
        }
        List<LateRow> rows = log.rows();
        assertTrue(spare.getAllocatedMemory() <= 5 << 20, () -> spare.getAllocatedMemory() + " bytes");
        assertTrue(rows.size() > 10);
        assertEquals(
                "(99," + "y".repeat(100_099) + ")", rows.get(rows.size() - 1).row());
    }

    @Test
    void whenMemoryEndsTheOldestGoAndNobodyFails() {
        spare.setLimit(40 << 10);
        for (int i = 0; i < 5_000; i++) {
            add(i, "z");
        }
        assertEquals(5_000, log.count());
        List<LateRow> rows = log.rows();
        assertTrue(rows.size() > 100 && rows.size() < 5_000, () -> rows.size() + " rows");
        spare.setLimit(0);
        add(6_000, "z");
        assertEquals(5_001, log.count());
    }

    @Test
    void whatIsClosedKeepsNothingMore() {
        add(1, "a");
        log.close();
        add(2, "b");
        assertEquals(List.of(), log.rows());
        assertEquals(2, log.count());
        assertEquals(0, spare.getAllocatedMemory());
    }
}
