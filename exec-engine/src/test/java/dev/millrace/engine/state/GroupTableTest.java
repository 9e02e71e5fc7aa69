package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import dev.millrace.testing.memory.PoisonedAllocation;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

class GroupTableTest {
    private static long find(GroupTable table, long hash) {
        for (long slot = hash << KeyGroups.BITS >>> table.shift();
                table.word(slot) != 0;
                slot = (slot + 1) & table.mask()) {
            long entry = table.word(slot) & GroupTable.ADDRESS;
            if (Memory.getLong(entry) == hash) {
                return entry;
            }
        }
        return 0;
    }

    /** Few distinct top bits make long runs, which wrap around the end of the index. */
    private static long hash(RandomGenerator random) {
        return (random.nextInt(4) == 0 ? -1L << 60 : random.nextLong(3) << 59) | random.nextInt(400);
    }

    @Test
    void insertionsAndRemovalsInAnyOrderLeaveTheRightEntries() {
        RandomGenerator random = new SplittableRandom(1);
        Map<Long, Long> expected = new HashMap<>();
        try (RootAllocator allocator = PoisonedAllocation.newRoot(1 << 28);
                GroupTable table = new GroupTable(allocator, new long[] {7, 8})) {
            for (int step = 0; step < 40_000; step++) {
                long hash = hash(random);
                long known = find(table, hash);
                assertEquals(expected.getOrDefault(hash, 0L), known);
                if (known == 0) {
                    long entry = table.insertNew(hash);
                    assertEquals(7, Memory.getLong(entry + GroupTable.BODY));
                    expected.put(hash, entry);
                } else if (random.nextBoolean()) {
                    table.remove(known);
                    expected.remove(hash);
                }
            }
            Set<Long> entries = new HashSet<>();
            EntryCursor cursor = new EntryCursor(table, 7);
            for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
                for (int i = 0; i < count; i++) {
                    entries.add(cursor.entries()[i]);
                }
            }
            assertEquals(new HashSet<>(expected.values()), entries);
            assertEquals(expected.size(), table.size());
        }
    }

    /** As when partial groups come to a final aggregation, or slices are merged. */
    @Test
    void entriesOfOneTableFillAnotherEvenly() {
        RandomGenerator random = new SplittableRandom(3);
        try (RootAllocator allocator = PoisonedAllocation.newRoot(1 << 28);
                GroupTable from = new GroupTable(allocator, new long[0]);
                GroupTable to = new GroupTable(allocator, new long[0])) {
            for (int i = 0; i < 100_000; i++) {
                from.insertNew(random.nextLong());
            }
            long probes = 0;
            EntryCursor cursor = new EntryCursor(from, 1000);
            for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
                for (int i = 0; i < count; i++) {
                    long hash = Memory.getLong(cursor.entries()[i]);
                    long slot = hash << KeyGroups.BITS >>> to.shift();
                    for (; to.word(slot) != 0; slot = (slot + 1) & to.mask()) {
                        probes++;
                    }
                    to.insert(hash, slot);
                }
            }
            assertEquals(100_000, to.size());
            assertTrue(probes < 2_000_000, probes + " occupied slots were looked at");
        }
    }

    @Test
    void blocksDoNotOverlap() {
        RandomGenerator random = new SplittableRandom(2);
        try (RootAllocator allocator = PoisonedAllocation.newRoot(1 << 28);
                StateMemory memory = new StateMemory(allocator)) {
            Map<Long, Integer> blocks = new HashMap<>();
            for (int step = 0; step < 20_000; step++) {
                int size = 1 + (random.nextInt(10) == 0 ? random.nextInt(60_000) : random.nextInt(200));
                long block = memory.allocate(size);
                Memory.fill(block, size, (byte) size);
                blocks.put(block, size);
                if (blocks.size() > 300) {
                    long victim = blocks.keySet().iterator().next();
                    int bytes = blocks.remove(victim);
                    for (int at = 0; at < bytes; at++) {
                        assertEquals((byte) bytes, Memory.getByte(victim + at));
                    }
                    memory.free(victim, bytes);
                }
            }
        }
    }

    @Test
    void shortAndLongTextsCompareByTheirBytes() {
        RandomGenerator random = new SplittableRandom(3);
        try (RootAllocator allocator = PoisonedAllocation.newRoot(1 << 28);
                StateMemory memory = new StateMemory(allocator)) {
            byte[][] texts = new byte[200][];
            long[] slots = new long[texts.length];
            for (int i = 0; i < texts.length; i++) {
                texts[i] = new byte[random.nextInt(20)];
                for (int at = 0; at < texts[i].length; at++) {
                    texts[i][at] = (byte) (at < 14 ? 'a' : 'a' + random.nextInt(2));
                }
                long bytes = memory.allocate(texts[i].length);
                Memory.copyIn(texts[i], 0, bytes, texts[i].length);
                slots[i] = memory.allocate(16);
                ByteSlots.store(memory, slots[i], bytes, texts[i].length);
                for (int j = 0; j <= i; j++) {
                    boolean same = java.util.Arrays.equals(texts[i], texts[j]);
                    assertEquals(same, ByteSlots.equal(slots[i], slots[j]));
                    assertEquals(
                            same,
                            ByteSlots.equal(
                                    slots[j],
                                    ByteSlots.low(bytes, texts[i].length),
                                    ByteSlots.high(bytes, texts[i].length),
                                    bytes,
                                    texts[i].length));
                }
            }
        }
    }

    @Test
    void aTableThatGrowsIsStoppedAndFreesAllThatItHas() {
        Interrupt interrupt = new Interrupt();
        try (RootAllocator allocator = PoisonedAllocation.newRoot(1 << 28);
                GroupTable table = new GroupTable(allocator, new long[] {7});
                Interrupt.Binding binding = interrupt.bind()) {
            RandomGenerator random = new SplittableRandom(3);
            interrupt.stop(MillraceException.user(SqlState.QUERY_CANCELED, "it is cancelled"));
            assertThrows(MillraceException.class, () -> {
                while (true) {
                    table.insertNew(random.nextLong());
                }
            });
        } // fails if a byte is left
    }

    @Test
    void entriesThatArePutTogetherAreFoundAsThoseOfOneByOne() {
        SplittableRandom random = new SplittableRandom(12);
        try (RootAllocator allocator = PoisonedAllocation.newRoot(1 << 28);
                GroupTable table = new GroupTable(allocator, new long[] {7})) {
            Map<Long, Long> expected = new HashMap<>();
            for (int round = 0; round < 60; round++) {
                long[] entries = new long[random.nextInt(3_000)];
                int count = 0;
                while (count < entries.length) {
                    long hash = random.nextInt(3) == 0 ? hash(random) : random.nextLong();
                    if (!expected.containsKey(hash)) {
                        entries[count] = table.newEntry(hash);
                        expected.put(hash, entries[count++]);
                    } else if (count > 0) {
                        break;
                    }
                }
                table.putAll(entries, count, random.nextInt(10_000));
                if (round % 7 == 0 && count > 0) {
                    expected.remove(Memory.getLong(entries[0]));
                    table.remove(entries[0]);
                }
                assertEquals(expected.size(), table.size());
                expected.forEach((hash, entry) -> assertEquals(entry, find(table, hash)));
            }
        }
    }

    /** What a checkpoint's length promises may be far from what comes. */
    @Test
    void roomIsMadeForAFewTimesAsManyEntriesAsThereAreAtMost() {
        try (RootAllocator allocator = PoisonedAllocation.newRoot(1 << 28);
                GroupTable table = new GroupTable(allocator, new long[] {7})) {
            long[] entries = new long[1000];
            for (int i = 0; i < entries.length; i++) {
                entries[i] = table.newEntry(i * 0x9E3779B97F4A7C15L);
            }
            table.putAll(entries, entries.length, Long.MAX_VALUE / 2);
            assertEquals((1 << 13) - 1, table.mask());
        }
    }
}
