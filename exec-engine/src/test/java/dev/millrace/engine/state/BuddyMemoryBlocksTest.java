package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.state.memory.BuddyMemory;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.LeakCheck;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which blocks there are, and what joins. */
final class BuddyMemoryBlocksTest {
    private static final int REGION = 14; // order of the first

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private BuddyMemory memory;

    @BeforeEach
    void open() {
        memory = new BuddyMemory(leaks.allocator());
    }

    @AfterEach
    void close() {
        memory.close();
        assertEquals(0, memory.bytes());
        memory.close();
    }

    private void assertCounted(long bytes) {
        assertEquals(bytes, memory.bytes());
        assertEquals(bytes, leaks.allocator().getAllocatedMemory());
    }

    /** All blocks of an order that the first region has, each once. */
    private List<Long> fill(int order) {
        List<Long> blocks = new ArrayList<>();
        for (int i = 0; i < 1 << REGION - order; i++) {
            blocks.add(memory.allocate(order));
        }
        List<Long> sorted = new ArrayList<>(blocks);
        sorted.sort(Comparator.naturalOrder());
        for (int i = 0; i < sorted.size(); i++) {
            assertEquals(sorted.get(0) + ((long) i << order), sorted.get(i));
            Memory.fill(sorted.get(i), 1L << order, (byte) i);
        }
        for (int i = 0; i < sorted.size(); i++) {
            assertEquals((byte) i, Memory.getByte(sorted.get(i) + (1 << order) - 1));
        }
        return blocks;
    }

    @Test
    void aRegionIsUsedWholeByBlocksOfEachOrder() {
        SplittableRandom random = new SplittableRandom(1);
        for (int order = BuddyMemory.SMALLEST_ORDER; order <= REGION; order++) {
            List<Long> blocks = fill(order);
            assertCounted(1 << REGION);
            while (!blocks.isEmpty()) { // in any order; then all is one again
                memory.free(blocks.remove(random.nextInt(blocks.size())), order);
            }
        }
        fill(8);
        assertCounted(1 << REGION);
    }

    @Test
    void neighboursJoinOnlyWithTheirLike() {
        List<Long> blocks = fill(10);
        blocks.sort(Comparator.naturalOrder());
        memory.free(blocks.get(1), 10);
        memory.free(blocks.get(2), 10); // beside it, but no neighbour
        memory.free(blocks.get(5), 10);
        long second = memory.allocate(11);
        assertTrue(second < blocks.get(0) || second > blocks.get(15)); // of another region
        memory.free(blocks.get(0), 10);
        assertEquals(blocks.get(0), memory.allocate(11));
        memory.free(blocks.get(3), 10);
        long half = memory.allocate(10);
        assertTrue(blocks.contains(half));
        memory.free(half, 10);
        memory.free(blocks.get(0), 11);
        memory.free(second, 11);
    }

    @Test
    void regionsGrowWithWhatThereIsUpToALargest() {
        long bytes = 0;
        for (int i = 0; i < 3 * 256; i++) {
            memory.allocate(14);
            long expected = bytes >= (i + 1L << 14)
                    ? bytes
                    : bytes + Math.min(1 << 22, Math.max(1 << 14, Long.highestOneBit(bytes)));
            assertCounted(expected);
            bytes = expected;
        }
    }

    @Test
    void aBlockLargerThanRegionsGoesWhenItIsGivenBack() {
        long large = memory.allocate(23);
        Memory.fill(large, 1 << 23, (byte) 1);
        assertCounted(1 << 23);
        memory.free(large, 23);
        assertCounted(0);
        long largest = memory.allocate(22);
        memory.free(largest, 22);
        assertCounted(1 << 22); // it is of the usual size
        assertEquals(largest, memory.allocate(22));
        memory.allocate(23);
        assertCounted((1 << 22) + (1 << 23));
        memory.reset();
        assertCounted(1 << 22);
        assertEquals(largest, memory.allocate(22));
    }

    @Test
    void afterAResetAllIsFree() {
        List<Long> before = fill(9);
        memory.free(before.get(3), 9);
        memory.free(before.get(8), 9);
        memory.reset();
        fill(8);
        assertCounted(1 << REGION);
        memory.reset();
        memory.allocate(REGION);
        assertCounted(1 << REGION);
    }

    @Test
    void aBlockIsGivenBackOnceAndWithItsOrder() {
        long block = memory.allocate(9);
        assertThrows(AssertionError.class, () -> memory.free(block, 10));
        long other = memory.allocate(9);
        assertNotEquals(block, other);
        memory.free(other, 9);
        assertThrows(AssertionError.class, () -> memory.free(other, 9));
        assertThrows(AssertionError.class, () -> memory.allocate(7));
    }
}
