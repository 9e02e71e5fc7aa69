package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.PoisonedAllocation;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TimedRowsTest {
    private static final int SLOT = 8;
    private static final long BUCKET = 10_000; // the least there is

    private final RootAllocator allocator = PoisonedAllocation.newRoot(1 << 24);
    private final StateMemory memory = new StateMemory(allocator);

    @AfterEach
    void close() {
        memory.close();
        allocator.close();
    }

    private long row(long time) {
        long row = memory.allocate(SLOT + 8);
        Memory.putLong(row + SLOT, time);
        return row;
    }

    private static List<Long> taken(TimedRows rows, long before) {
        List<Long> taken = new ArrayList<>();
        rows.takeBefore(before, row -> taken.add(Memory.getLong(row + SLOT)));
        return taken;
    }

    @Test
    void rowsGoWhenTheirTimeIsPassedAndNotAtIt() {
        TimedRows rows = new TimedRows(SLOT, 0);
        for (long time : new long[] {-BUCKET, -1, 0, 5, BUCKET - 1, BUCKET, 2 * BUCKET}) {
            rows.add(row(time));
        }
        assertEquals(List.of(), taken(rows, -BUCKET));
        assertEquals(List.of(-BUCKET), taken(rows, -BUCKET + 1));
        assertEquals(List.of(-1L), taken(rows, 0));
        assertEquals(List.of(0L), taken(rows, 5));
        assertEquals(List.of(5L, BUCKET - 1), taken(rows, BUCKET));
        assertEquals(List.of(BUCKET), taken(rows, 2 * BUCKET));
        assertEquals(List.of(2 * BUCKET), taken(rows, 2 * BUCKET + 1));
        assertEquals(List.of(), taken(rows, Long.MAX_VALUE));
        assertEquals(0, rows.bytes());
    }

    @Test
    void itsBytesAreThoseOfItsBuckets() {
        TimedRows rows = new TimedRows(SLOT, 0);
        assertEquals(0, rows.bytes());
        rows.add(row(0));
        assertEquals(64, rows.bytes());
        for (int i = 1; i < 8; i++) {
            rows.add(row(i));
        }
        assertEquals(64, rows.bytes());
        rows.add(row(8));
        assertEquals(128, rows.bytes());
        rows.add(row(BUCKET));
        assertEquals(192, rows.bytes());
        assertEquals(9, taken(rows, BUCKET).size());
        assertEquals(64, rows.bytes());
    }

    /** The bucket that the last row went to is remembered, and must not be once it is gone. */
    @Test
    void aRowMayComeToATimeWhoseRowsHaveGone() {
        TimedRows rows = new TimedRows(SLOT, 0);
        rows.add(row(1));
        assertEquals(List.of(1L), taken(rows, BUCKET));
        rows.add(row(2));
        assertEquals(64, rows.bytes());
        assertEquals(List.of(2L), taken(rows, 3));
        rows.add(row(BUCKET));
        rows.add(row(3));
        assertEquals(List.of(3L), taken(rows, BUCKET));
        rows.add(row(BUCKET + 1));
        assertEquals(List.of(BUCKET, BUCKET + 1), taken(rows, 2 * BUCKET));
    }

    @Test
    void rowsOfAnyOrderGoInTime() {
        for (long kept : new long[] {0, 64 * BUCKET, 1_000 * BUCKET}) {
            TimedRows rows = new TimedRows(SLOT, kept);
            RandomGenerator random = new SplittableRandom(kept);
            List<Long> open = new ArrayList<>();
            for (long watermark = -5 * BUCKET; watermark < 30 * BUCKET; watermark += random.nextLong(BUCKET)) {
                for (int i = 0; i < 10; i++) {
                    long time = watermark + random.nextLong(5 * BUCKET);
                    rows.add(row(time));
                    open.add(time);
                }
                long now = watermark;
                List<Long> due = new ArrayList<>(
                        open.stream().filter(time -> time < now).sorted().toList());
                open.removeIf(time -> time < now);
                assertEquals(due, taken(rows, now).stream().sorted().toList());
            }
        }
    }
}
