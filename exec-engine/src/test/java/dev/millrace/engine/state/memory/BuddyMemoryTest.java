package dev.millrace.engine.state.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.memory.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

class BuddyMemoryTest {
    private record Block(long address, int order, byte content) {}

    @Test
    void blocksDoNotOverlapWhateverIsFreedBetween() {
        SplittableRandom random = new SplittableRandom(1);
        try (BufferAllocator allocator = new RootAllocator();
                BuddyMemory memory = new BuddyMemory(allocator)) {
            List<Block> blocks = new ArrayList<>();
            for (int round = 0; round < 20_000; round++) {
                if (random.nextInt(100) < (round / 2_000 % 2 == 0 ? 60 : 40)) {
                    int order = BuddyMemory.SMALLEST_ORDER + random.nextInt(random.nextInt(500) == 0 ? 16 : 6);
                    long address = memory.allocate(order);
                    Memory.fill(address, 1L << order, (byte) round);
                    blocks.add(new Block(address, order, (byte) round));
                } else if (!blocks.isEmpty()) {
                    Block block = blocks.remove(random.nextInt(blocks.size()));
                    for (long at = 0; at < 1L << block.order(); at++) {
                        assertEquals(block.content(), Memory.getByte(block.address() + at));
                    }
                    memory.free(block.address(), block.order());
                }
                if (round % 7_000 == 6_999) {
                    memory.reset();
                    blocks.clear();
                }
            }
        }
    }

    /** Many blocks that double at about the same time: in the end all the room of the old ones is used again. */
    @Test
    void neighboursJoin() {
        SplittableRandom random = new SplittableRandom(2);
        try (BufferAllocator allocator = new RootAllocator();
                BuddyMemory memory = new BuddyMemory(allocator)) {
            long[] blocks = new long[4_096];
            for (int order = 8; order <= 12; order++) {
                for (int i = 0; i < blocks.length; i++) {
                    int other = i + random.nextInt(blocks.length - i);
                    long old = blocks[other];
                    blocks[other] = blocks[i];
                    blocks[i] = memory.allocate(order);
                    if (order > 8) {
                        memory.free(old, order - 1);
                    }
                }
                assertTrue(memory.bytes() <= 1.3 * (blocks.length << order) + (8 << 20), order + ": " + memory.bytes());
            }
        }
    }
}
