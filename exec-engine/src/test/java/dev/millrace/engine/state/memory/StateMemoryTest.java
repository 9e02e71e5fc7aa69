package dev.millrace.engine.state.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.memory.CheckedMemory;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.LeakCheck;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class StateMemoryTest {
    private record Block(long address, int size, byte content) {
        void check() {
            for (long at = 0; at < size; at++) {
                assertEquals(content, Memory.getByte(address + at), "of a block of " + size);
            }
        }
    }

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    /** Each size up to 2,100, and those around the ends of classes behind: its bytes are its own, before and after reuse. */
    @Test
    void blocksOfAllSizesKeepTheirBytes() {
        List<Integer> sizes = new ArrayList<>();
        for (int size = 0; size <= 2_100; size++) {
            sizes.add(size);
        }
        for (int power = 11; power <= 17; power++) {
            for (int quarter = 4; quarter <= 8; quarter++) {
                for (int off = -1; off <= 1; off++) {
                    sizes.add((quarter << power - 2) + off);
                }
            }
        }
        try (StateMemory memory = new StateMemory(leaks.allocator())) {
            for (int round = 0; round < 3; round++) {
                List<Block> blocks = new ArrayList<>();
                for (int size : sizes) {
                    long address = memory.allocate(size);
                    assertEquals(0, address & 7, "alignment");
                    Memory.fill(address, size, (byte) size);
                    blocks.add(new Block(address, size, (byte) size));
                }
                blocks.forEach(Block::check);
                if (round == 1) {
                    memory.reset();
                } else {
                    blocks.forEach(block -> memory.free(block.address(), block.size()));
                }
            }
        }
    }

    @Test
    void blocksDoNotOverlapWhateverIsFreedBetween() {
        SplittableRandom random = new SplittableRandom(3);
        try (StateMemory memory = new StateMemory(leaks.allocator())) {
            List<Block> blocks = new ArrayList<>();
            for (int round = 0; round < 10_000; round++) {
                if (random.nextInt(100) < (round / 1_000 % 2 == 0 ? 60 : 40)) {
                    int size = random.nextInt(1, 1 << random.nextInt(1, random.nextInt(200) == 0 ? 15 : 10));
                    long address = memory.allocate(size);
                    Memory.fill(address, size, (byte) round);
                    blocks.add(new Block(address, size, (byte) round));
                } else if (!blocks.isEmpty()) {
                    Block block = blocks.remove(random.nextInt(blocks.size()));
                    block.check();
                    memory.free(block.address(), block.size());
                }
            }
            blocks.forEach(Block::check);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 8, 24, 1_023, 1_024, 1_025, 1_280, 1_281, 4_096, 4_097, 100_000})
    void aFreedBlockServesTheNextOfItsSizeAndNoLarger(int size) {
        try (StateMemory memory = new StateMemory(leaks.allocator())) {
            long first = memory.allocate(size);
            long second = memory.allocate(size);
            assertNotEquals(first, second);
            memory.free(first, size);
            memory.free(second, size);
            Set<Long> larger = new HashSet<>(List.of(memory.allocate(2 * size + 8), memory.allocate(2 * size + 8)));
            assertTrue(!larger.contains(first) && !larger.contains(second));
            assertEquals(second, memory.allocate(size));
            assertEquals(first, memory.allocate(size));
        }
    }

    /** Not more than a quarter for its class, and what it is kept between here. */
    @Test
    void littleIsLostToSizes() {
        for (int size : new int[] {8, 100, 1_000, 1_100, 2_048, 5_000, 70_000}) {
            try (StateMemory memory = new StateMemory(leaks.allocator())) {
                int count = (2 << 20) / size;
                for (int i = 0; i < count; i++) {
                    memory.allocate(size);
                }
                double most = 1.26 * (size + 8) * count + 16.0 * count + (2 << 20);
                assertTrue(memory.bytes() <= most, size + ": " + memory.bytes() + " > " + most);
            }
        }
    }

    @Test
    void pagesAreUsedAgainAfterAReset() {
        try (StateMemory memory = new StateMemory(leaks.allocator())) {
            long bytes = 0;
            for (int round = 0; round < 5; round++) {
                for (int i = 0; i < 10_000; i++) {
                    memory.allocate(100);
                }
                memory.allocate(2 << 20); // has a page of its own, of just its size
                assertEquals(round == 0 ? memory.bytes() : bytes, memory.bytes());
                bytes = memory.bytes();
                memory.reset();
            }
        }
    }

    @Test
    void whatIsWrittenBeyondABlockIsFoundWhenItIsGivenBack() {
        for (int size : new int[] {1, 8, 20, 1_024, 1_030, 5_000}) {
            StateMemory memory = new StateMemory(leaks.allocator());
            long block = memory.allocate(size);
            long end = block + Math.max(8, (size + 7L) & -8);
            Memory.permit(end, 8); // else the write itself fails where accesses are checked
            byte before = Memory.getByte(end);
            Memory.putByte(end, (byte) 7);
            assertThrows(AssertionError.class, () -> memory.free(block, size), "of " + size);
            assertThrows(AssertionError.class, memory::reset);
            Memory.permit(end, 8);
            Memory.putByte(end, before);
            memory.close();
        }
    }

    @Test
    void whatIsWrittenBeforeABlockIsFound() {
        StateMemory memory = new StateMemory(leaks.allocator());
        memory.allocate(16);
        long block = memory.allocate(16);
        Memory.permit(block - 8, 8);
        Memory.putLong(block - 8, 1);
        assertThrows(AssertionError.class, memory::close);
    }

    @Test
    void aBlockIsGivenBackOnceAndWithItsSize() {
        try (StateMemory memory = new StateMemory(leaks.allocator())) {
            long block = memory.allocate(40);
            assertThrows(AssertionError.class, () -> memory.free(block, 48));
            assertThrows(
                    AssertionError.class,
                    () -> memory.free(block, 39)); // of the same class, and a wrong length somewhere
            memory.free(block, 40);
            assertThrows(AssertionError.class, () -> memory.free(block, 40));
        }
    }

    @Test
    void aPageIsUsedToItsEnd() {
        try (StateMemory memory = new StateMemory(leaks.allocator())) {
            for (int i = 0; i < 4; i++) {
                memory.allocate(1_008); // and red zones of 16
            }
            assertEquals(4_096, memory.bytes());
            memory.allocate(1);
            assertTrue(memory.bytes() > 4_096);
            assertEquals(leaks.allocator().getAllocatedMemory(), memory.bytes());
        }
    }

    @Test
    void whatWasFreedBeforeAResetIsNotGivenOutTwice() {
        try (StateMemory memory = new StateMemory(leaks.allocator())) {
            for (int round = 0; round < 3; round++) {
                Set<Long> blocks = new HashSet<>();
                for (int i = 0; i < 50; i++) {
                    assertTrue(blocks.add(memory.allocate(64)));
                }
                blocks.forEach(block -> memory.free(block, 64));
                memory.reset();
            }
        }
    }

    @Test
    void afterAResetBlocksOfOtherSizesAreChecked() {
        try (StateMemory memory = new StateMemory(leaks.allocator())) {
            for (int size : new int[] {40, 100, 24, 1_000, 8}) {
                for (int i = 0; i < 4_000 / size + 1; i++) {
                    Memory.fill(memory.allocate(size), size, (byte) -1);
                }
                memory.reset();
            }
        }
    }

    @Test
    void whatIsWrittenBeyondABlockOfAnEarlierPageIsFoundInTheEnd() {
        StateMemory memory = new StateMemory(leaks.allocator());
        long block = memory.allocate(40);
        memory.allocate(8_000);
        memory.allocate(8_000);
        Memory.permit(block + 40, 8);
        byte before = Memory.getByte(block + 40);
        Memory.putByte(block + 40, (byte) 7);
        assertThrows(AssertionError.class, memory::reset);
        Memory.permit(block + 40, 8);
        Memory.putByte(block + 40, before);
        memory.close();
    }

    @Test
    @EnabledIfSystemProperty(named = "millrace.memory.checked", matches = "true")
    void whoeverTouchesWhatIsNotItsOwnIsToldAtOnce() {
        try (StateMemory memory = new StateMemory(leaks.allocator())) {
            long block = memory.allocate(40);
            memory.allocate(40);
            assertThrows(AssertionError.class, () -> Memory.getLong(block - 8));
            assertThrows(AssertionError.class, () -> Memory.getLong(block + 40));
            memory.free(block, 40);
            assertThrows(AssertionError.class, () -> Memory.getLong(block));
            assertEquals(block, memory.allocate(40));
            Memory.getLong(block);
            assertThrows(AssertionError.class, () -> Memory.getLong(block - 8));
            assertThrows(AssertionError.class, () -> Memory.getLong(block + 40));
            memory.reset();
            Memory.getLong(block - 8); // it is to be a block again
        }
        CheckedMemory.forget();
    }

    @Test
    void whatWasFreeBeforeAResetIsGivenOutOnce() {
        try (StateMemory memory = new StateMemory(leaks.allocator())) {
            long freed = memory.allocate(16);
            memory.free(freed, 16);
            memory.reset();
            Set<Long> blocks = new HashSet<>();
            for (int i = 0; i < 4; i++) {
                assertTrue(blocks.add(memory.allocate(16)), "a block was given out twice");
            }
        }
    }
}
