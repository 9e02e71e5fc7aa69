package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.PoisonedAllocation;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RangeIndexTest {
    private record Entry(long first, long second, long row) {}

    private final RootAllocator allocator = PoisonedAllocation.newRoot(1 << 24);
    private final RangeIndex index = new RangeIndex(allocator);

    @AfterEach
    void close() {
        index.close();
        allocator.close();
    }

    private List<Long> found(long root, long first, long second) {
        List<Long> found = new ArrayList<>();
        index.find(root, first, second, found::add);
        return found.stream().sorted().toList();
    }

    private static List<Long> expected(List<Entry> entries, long first, long second) {
        return entries.stream()
                .filter(entry -> entry.first <= first && entry.second >= second)
                .map(Entry::row)
                .sorted()
                .toList();
    }

    @Test
    void rowsAreFoundUpToTheFirstBoundAndFromTheSecondOn() {
        long root = index.add(0, 5, 7, 100);
        assertEquals(List.of(100L), found(root, 5, 7));
        assertEquals(List.of(), found(root, 4, 7));
        assertEquals(List.of(), found(root, 5, 8));
        assertEquals(List.of(), found(0, 5, 7));
        assertEquals(0, index.remove(root, 5, 100));
    }

    @Test
    void rowsComeAndGo() {
        for (int values : new int[] {3, 50, 1_000}) {
            RandomGenerator random = new SplittableRandom(values);
            List<Entry> entries = new ArrayList<>();
            long root = 0;
            for (int i = 0; i < 600; i++) {
                if (!entries.isEmpty() && random.nextInt(i < 300 ? 4 : 2) == 0) {
                    Entry gone = entries.remove(random.nextInt(entries.size()));
                    root = index.remove(root, gone.first, gone.row);
                } else {
                    // rows of one first word are told apart by their addresses
                    Entry entry = new Entry(random.nextInt(values), random.nextInt(values), 1 + (i * 7_919L) % 100_003);
                    entries.add(entry);
                    root = index.add(root, entry.first, entry.second, entry.row);
                }
                assertInvariants(root);
                long first = random.nextInt(values);
                long second = random.nextInt(values);
                assertEquals(expected(entries, first, second), found(root, first, second));
            }
            long left = root;
            for (Entry entry : entries) {
                left = index.remove(left, entry.first, entry.row);
            }
            assertEquals(0, left);
        }
        long bytes = index.bytes();
        assertTrue(bytes > 0);
        index.clear();
        assertEquals(bytes, index.bytes(), "kept for reuse");
    }

    /** Each node's greatest second word, the order of first words and rows, and priorities that fall. */
    private long assertInvariants(long node) {
        if (node == 0) {
            return Long.MIN_VALUE;
        }
        long left = Memory.getLong(node);
        long right = Memory.getLong(node + 8);
        long greatest = Math.max(Memory.getLong(node + 32), Math.max(assertInvariants(left), assertInvariants(right)));
        assertEquals(greatest, Memory.getLong(node + 40));
        for (long child : new long[] {left, right}) {
            if (child != 0) {
                assertTrue(Memory.getLong(child + 48) <= Memory.getLong(node + 48), "a heap of priorities");
                long order = Long.compare(Memory.getLong(child + 24), Memory.getLong(node + 24));
                order = order != 0 ? order : Long.compare(Memory.getLong(child + 16), Memory.getLong(node + 16));
                assertEquals(child == left ? -1 : 1, order);
            }
        }
        return greatest;
    }

    /** As rows mostly come in order, priorities must not. */
    @Test
    void treesStayFlatWhateverTheOrderOfRows() {
        long root = 0;
        for (int i = 1; i <= 4_000; i++) {
            root = index.add(root, i, 0, i);
        }
        assertTrue(depth(root) < 50, "of some 24");
    }

    private static int depth(long node) {
        return node == 0 ? 0 : 1 + Math.max(depth(Memory.getLong(node)), depth(Memory.getLong(node + 8)));
    }
}
