package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.memory.Memory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

/** Rows in chains that go from the oldest on. */
class RowLogTest {
    private static final int CHAINS = 7;

    private static long append(RowLog log, long value, int length, long before, long until) {
        long row = log.room(length + 100); // more than it takes
        for (int i = 0; i < length; i += 8) {
            Memory.putLong(row + RowLog.HEADER + i, value + i);
        }
        return log.add(length, before, until);
    }

    /** The values of a chain, the newest first. */
    private static List<Long> values(RowLog log, long last) {
        List<Long> values = new ArrayList<>();
        for (long at = last; at >= log.begin(); at = log.before(at, log.address(at))) {
            values.add(Memory.getLong(log.address(at) + RowLog.HEADER));
        }
        return values;
    }

    @Test
    void chainsHoldWhatIsNeededYetInTheOrderItCame() {
        RandomGenerator random = new SplittableRandom(3);
        try (BufferAllocator allocator = new RootAllocator();
                RowLog log = new RowLog(allocator)) {
            long[] last = new long[CHAINS];
            List<List<Long>> all = new ArrayList<>();
            for (int chain = 0; chain < CHAINS; chain++) {
                all.add(new ArrayList<>());
            }
            long most = 0;
            for (int i = 1; i <= 20_000; i++) {
                int chain = random.nextInt(CHAINS);
                int length = random.nextInt(1_000) == 0 ? 8 * random.nextInt(1 << 18) : 8 * random.nextInt(1, 100);
                last[chain] = append(log, i, Math.max(8, length), last[chain], i);
                all.get(chain).add((long) i);
                if (i % 1_000 == 0) {
                    log.forget(i - 500);
                    most = Math.max(most, log.bytes());
                    long size = 0;
                    for (int each = 0; each < CHAINS; each++) {
                        List<Long> values = values(log, last[each]);
                        List<Long> newest = new ArrayList<>(all.get(each));
                        Collections.reverse(newest);
                        assertEquals(newest.subList(0, values.size()), values);
                        assertTrue(
                                values.size() == newest.size() || newest.get(values.size()) < i - 500,
                                "a row that is needed went");
                        size += values.size();
                    }
                    assertEquals(size, log.size());
                }
            }
            assertTrue(most < 16 << 20, most + " bytes"); // of some 28 MB in all: pages go, and are used again
            log.forget(Long.MAX_VALUE);
            assertEquals(0, log.size());
            long again = append(log, 5, 8, last[0], 1);
            assertEquals(List.of(5L), values(log, again)); // the chain's other rows are gone
        }
    }

    @Test
    void rowsWithoutAnEndStayAndKeepYoungerOnes() {
        try (BufferAllocator allocator = new RootAllocator();
                RowLog log = new RowLog(allocator)) {
            long first = append(log, 1, 8, 0, Long.MAX_VALUE);
            long second = append(log, 2, 8, first, 10);
            log.forget(1_000);
            assertEquals(List.of(2L, 1L), values(log, second));
        }
    }
}
