package dev.millrace.engine.aggregate.number;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.PoisonedAllocation;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ExtremesTest {
    private static final long DAY_NANOS = 86_400_000_000_000L;

    private final RootAllocator allocator = PoisonedAllocation.newRoot(1 << 24);
    private final StateMemory memory = new StateMemory(allocator);
    private final long slot = memory.allocate(16);

    @AfterEach
    void close() {
        memory.close();
        allocator.close();
    }

    private void set(long[] words) {
        Memory.putLong(slot, words[0]);
        Memory.putLong(slot + 8, words[1]);
    }

    private String text() {
        byte[] bytes = new byte[ByteSlots.length(slot)];
        Memory.copyOut(ByteSlots.address(slot), bytes, 0, bytes.length);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    @Test
    void theLeastAndTheGreatestTextAreKept() {
        List<String> ordered =
                List.of("", "a", "a text that is long", "a text that is longer", "b", "z".repeat(40), "\u00e9");
        for (String first : ordered) {
            for (String second : ordered) {
                boolean isLess = ordered.indexOf(first) <= ordered.indexOf(second);
                for (boolean min : new boolean[] {true, false}) {
                    set(Extremes.NO_BYTES);
                    assertTrue(Extremes.isAbsent(slot));
                    for (String value : List.of(first, second)) {
                        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
                        long address = memory.allocate(Math.max(8, bytes.length));
                        Memory.copyIn(bytes, 0, address, bytes.length);
                        if (min) {
                            Extremes.minBytes(memory, slot, address, bytes.length);
                        } else {
                            Extremes.maxBytes(memory, slot, address, bytes.length);
                        }
                        memory.free(address, Math.max(8, bytes.length));
                        assertFalse(Extremes.isAbsent(slot));
                    }
                    assertEquals(isLess == min ? first : second, text());
                    ByteSlots.free(memory, slot);
                }
            }
        }
    }

    private static long monthsDays(int months, int days) {
        return (long) days << 32 | months & 0xFFFFFFFFL;
    }

    /** Intervals in ascending order, some of them equal to the one before. */
    private static final long[][] INTERVALS = {
        {monthsDays(-1, 0), 0},
        {monthsDays(0, -30), 1},
        {monthsDays(0, -1), 0},
        {monthsDays(0, 0), -1},
        {monthsDays(0, 0), 0},
        {monthsDays(0, 0), DAY_NANOS - 1},
        {monthsDays(0, 1), 0},
        {monthsDays(0, 0), DAY_NANOS + 1},
        {monthsDays(0, 30), -1},
        {monthsDays(1, 0), 0},
        {monthsDays(1, 0), 1},
        {monthsDays(100_000, -5), 0},
    };

    @Test
    void aMonthIsThirtyDaysAndADayIs24Hours() {
        for (int a = 0; a < INTERVALS.length; a++) {
            for (int b = 0; b < INTERVALS.length; b++) {
                long[] x = INTERVALS[a];
                long[] y = INTERVALS[b];
                assertEquals(Integer.compare(a, b), Extremes.compareIntervals(x[0], x[1], y[0], y[1]));
                set(Extremes.NO_INTERVAL);
                Extremes.minInterval(slot, x[0], x[1]);
                Extremes.minInterval(slot, y[0], y[1]);
                assertEquals(INTERVALS[Math.min(a, b)][0], Memory.getLong(slot));
                assertEquals(INTERVALS[Math.min(a, b)][1], Memory.getLong(slot + 8));
                set(Extremes.NO_INTERVAL);
                Extremes.maxInterval(slot, x[0], x[1]);
                Extremes.maxInterval(slot, y[0], y[1]);
                assertEquals(INTERVALS[Math.max(a, b)][0], Memory.getLong(slot));
                assertEquals(INTERVALS[Math.max(a, b)][1], Memory.getLong(slot + 8));
            }
        }
        assertEquals(0, Extremes.compareIntervals(monthsDays(1, 0), 0, monthsDays(0, 29), DAY_NANOS));
        set(new long[] {monthsDays(1, 0), 0}); // of equal ones the first stays
        Extremes.minInterval(slot, monthsDays(0, 30), 0);
        Extremes.maxInterval(slot, monthsDays(0, 30), 0);
        assertEquals(monthsDays(1, 0), Memory.getLong(slot));
    }

    @Test
    void uuidsCompareByTheirBytes() {
        List<UUID> ordered = List.of(
                new UUID(0, 1), new UUID(0, -1), new UUID(1, 0), new UUID(256, 0), new UUID(-1, 0), new UUID(-1, 5));
        for (UUID a : ordered) {
            for (UUID b : ordered) {
                long[] x = {
                    Long.reverseBytes(a.getMostSignificantBits()), Long.reverseBytes(a.getLeastSignificantBits())
                };
                long[] y = {
                    Long.reverseBytes(b.getMostSignificantBits()), Long.reverseBytes(b.getLeastSignificantBits())
                };
                int order = Integer.compare(ordered.indexOf(a), ordered.indexOf(b));
                assertEquals(order, Integer.signum(Extremes.compareUuids(x[0], x[1], y[0], y[1])));
                set(x);
                Extremes.minUuid(slot, y[0], y[1]);
                assertEquals((order <= 0 ? x : y)[0], Memory.getLong(slot));
                assertEquals((order <= 0 ? x : y)[1], Memory.getLong(slot + 8));
                set(x);
                Extremes.maxUuid(slot, y[0], y[1]);
                assertEquals((order >= 0 ? x : y)[0], Memory.getLong(slot));
                assertEquals((order >= 0 ? x : y)[1], Memory.getLong(slot + 8));
            }
        }
    }
}
