package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.PoisonedAllocation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AsofRowsTest {
    private final RootAllocator allocator = PoisonedAllocation.newRoot(1 << 24);
    private final StateMemory memory = new StateMemory(allocator);

    @AfterEach
    void close() {
        memory.close();
        allocator.close();
    }

    /** A row with some words as its bytes. */
    private long row(long time, long weight, long... words) {
        long bytes = memory.allocate(Math.max(8, 8 * words.length));
        for (int i = 0; i < words.length; i++) {
            Memory.putLong(bytes + 8L * i, words[i]);
        }
        long row = AsofRows.create(memory, time, bytes, 8 * words.length, weight);
        memory.free(bytes, Math.max(8, 8 * words.length));
        return row;
    }

    private static List<String> texts(AsofRows rows) {
        List<String> texts = new ArrayList<>();
        rows.forEach(row -> {
            StringBuilder text = new StringBuilder(AsofRows.time(row) + "x" + AsofRows.weight(row));
            for (int at = 0; at < AsofRows.length(row); at += 8) {
                text.append(' ').append(Memory.getLong(row + AsofRows.BYTES + at));
            }
            texts.add(text.toString());
        });
        return texts;
    }

    @Test
    void rowsComeInOrderOfTimeThenOfTheirBytes() {
        AsofRows rows = new AsofRows(false);
        for (long[] words : new long[][] {{5, 2}, {5, 1}, {-1, 0}, {7}, {}}) {
            rows.add(row(10, 1, words));
        }
        rows.add(row(9, 1, 8));
        rows.add(row(11, 1, 8));
        rows.merge(memory);
        assertEquals(List.of("9x1 8", "10x1 5 2", "10x1 5 1", "10x1 -1 0", "10x1 7", "10x1", "11x1 8"), texts(rows));
        assertEquals(7, rows.count());
    }

    @Test
    void weightsOfEqualRowsAddAndRowsOfNoneGoWhenSwept() {
        AsofRows rows = new AsofRows(false);
        rows.add(row(10, 2, 1));
        rows.add(row(10, 3, 1));
        rows.add(row(20, 1, 1));
        rows.merge(memory);
        assertEquals(List.of("10x5 1", "20x1 1"), texts(rows));
        rows.add(row(10, -5, 1));
        rows.add(row(20, -2, 1));
        rows.merge(memory);
        assertEquals(List.of("10x0 1", "20x-1 1"), texts(rows));
        rows.sweep(memory);
        assertEquals(List.of("20x-1 1"), texts(rows));
    }

    @Test
    void whatWaitsKnowsItsTimes() {
        AsofRows rows = new AsofRows(false);
        assertFalse(rows.hasPending());
        assertEquals(Long.MAX_VALUE, rows.leastPending());
        assertEquals(Long.MIN_VALUE, rows.greatestPending());
        rows.add(row(10, 1, 1));
        rows.add(row(-5, 1, 1));
        rows.add(row(30, 1, 1));
        assertTrue(rows.hasPending());
        assertEquals(-5, rows.leastPending());
        assertEquals(30, rows.greatestPending());
        rows.merge(memory);
        assertFalse(rows.hasPending());
    }

    @Test
    void rowsAreCountedBeforeATimeOrAtIt() {
        AsofRows rows = new AsofRows(false);
        for (long time : new long[] {10, 10, 20, 30}) {
            rows.add(row(time, 1, time, rows.hasPending() ? 1 : 0));
        }
        rows.merge(memory);
        long[] times = {9, 10, 11, 20, 30, 31};
        int[] before = {0, 0, 2, 2, 3, 4};
        int[] orAt = {0, 2, 2, 3, 4, 4};
        for (int i = 0; i < times.length; i++) {
            assertEquals(before[i], rows.countBefore(times[i], false));
            assertEquals(orAt[i], rows.countBefore(times[i], true));
        }
    }

    @Test
    void theFirstRowsGoAndOthersComeInTheirPlace() {
        AsofRows rows = new AsofRows(false);
        for (int round = 0; round < 50; round++) {
            for (int i = 0; i < 3; i++) {
                rows.add(row(10 * round + i, 1, i));
            }
            rows.merge(memory);
            rows.removeFirst(2, memory);
            rows.removeFirst(0, memory);
            assertEquals(1, rows.count());
            assertEquals(List.of(10 * round + 2 + "x1 2"), texts(rows));
            if (round % 7 == 6) {
                rows.removeFirst(1, memory);
                assertEquals(0, rows.count());
            } else {
                rows.add(row(10 * round + 2, -1, 2));
                rows.merge(memory);
                rows.sweep(memory);
            }
        }
    }

    @Test
    void whatWasEmittedStaysWithARow() {
        long row = row(1, 3, 4);
        assertEquals(0, AsofRows.match(row));
        assertEquals(0, AsofRows.emittedWeight(row));
        AsofRows.setEmitted(row, 77, 3);
        assertEquals(77, AsofRows.match(row));
        assertEquals(3, AsofRows.emittedWeight(row));
        assertEquals(3, AsofRows.weight(row));
        assertEquals(8, AsofRows.length(row));
    }

    @Test
    void versionsOfATimeComeByTheirNumbers() {
        AsofRows rows = new AsofRows(true);
        for (long version : new long[] {7, -3, 12, 5}) {
            long row = row(10, 1, 100 - Math.abs(version));
            AsofRows.setVersion(row, version);
            assertEquals(version < 0, AsofRows.isEnd(row));
            rows.add(row);
        }
        long none = row(10, 1, 1);
        AsofRows.setVersion(none, 0);
        assertFalse(AsofRows.isEnd(none));
        rows.add(none);
        rows.merge(memory);
        assertEquals(List.of("10x1 1", "10x1 97", "10x1 95", "10x1 93", "10x1 88"), texts(rows));
    }

    /** However long it goes on, rows that are there no more take no memory: merged into others, swept, or the first of all. */
    @Test
    void rowsThatAreGoneTakeNoMemory() {
        AsofRows rows = new AsofRows(false);
        long bytes = 0;
        for (int round = 0; round < 400; round++) {
            for (int i = 0; i < 8; i++) {
                rows.add(row(i, 1, 5, 6, 7, 8));
                rows.add(row(i, 1, 5, 6, 7, 8));
            }
            assertEquals(16, rows.held());
            rows.merge(memory);
            assertEquals(8, rows.held());
            rows.removeFirst(4, memory);
            for (int i = 4; i < 8; i++) {
                rows.add(row(i, -2, 5, 6, 7, 8));
            }
            rows.merge(memory);
            rows.sweep(memory);
            assertEquals(0, rows.held());
            bytes = round == 0 ? memory.bytes() : bytes;
        }
        assertEquals(bytes, memory.bytes());
    }

    /** Rows in any order, merged a few or many at a time, with gaps at both ends, against a list that is sorted. */
    @Test
    void mergingIsSorting() {
        RandomGenerator random = new SplittableRandom(3);
        for (int most : new int[] {1, 2, 5, 200}) {
            AsofRows rows = new AsofRows(false);
            List<long[]> expected = new ArrayList<>();
            for (int round = 0; round < 30; round++) {
                int count = 1 + random.nextInt(most);
                for (int i = 0; i < count; i++) {
                    long time = random.nextInt(4) == 0 ? 100L * round : random.nextLong(50) + 20L * round;
                    long word = random.nextLong(1_000_000);
                    rows.add(row(time, 1, word));
                    expected.add(new long[] {time, word});
                }
                rows.merge(memory);
                expected.sort(Comparator.<long[]>comparingLong(each -> each[0]).thenComparingLong(each -> -each[1]));
                int gone = random.nextInt(Math.min(expected.size(), 20));
                rows.removeFirst(gone, memory);
                expected.subList(0, gone).clear();
                assertEquals(
                        expected.stream().map(each -> each[0] + "x1 " + each[1]).toList(), texts(rows));
                assertEquals(expected.size(), rows.count());
            }
        }
    }
}
