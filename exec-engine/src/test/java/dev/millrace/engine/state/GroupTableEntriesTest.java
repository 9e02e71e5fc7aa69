package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import dev.millrace.testing.memory.LeakCheck;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The table of groups by itself: what probing code relies on, and sizes at which it changes. */
final class GroupTableEntriesTest {
    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    /** As generated code looks for a key; here the hash is the key. */
    private static long find(GroupTable table, long hash) {
        long slot = hash << KeyGroups.BITS >>> 64 - Long.numberOfTrailingZeros(table.mask() + 1);
        for (int tries = 0; tries <= table.mask(); tries++) {
            long word = Memory.getLong(table.indexAddress() + 8 * slot);
            assertEquals(word, table.word(slot));
            if (word == 0) {
                return 0;
            }
            if (word >>> 48 == (hash & 0xFFFF) && Memory.getLong(word & GroupTable.ADDRESS) == hash) {
                return word & GroupTable.ADDRESS;
            }
            slot = slot + 1 & table.mask();
        }
        throw new AssertionError("no slot is free");
    }

    private static Set<Long> entries(GroupTable table, int atOnce) {
        Set<Long> entries = new HashSet<>();
        long[] some = new long[atOnce];
        int[] count = {-1};
        long from = 0;
        while (from >= 0) {
            from = table.entries(from, some, count);
            for (int i = 0; i < count[0]; i++) {
                assertTrue(entries.add(some[i]), "an entry came twice");
            }
        }
        return entries;
    }

    @Test
    void aNewEntryHasItsHashNoLinkAndWhatABodyBeginsWith() {
        try (GroupTable table = new GroupTable(leaks.allocator(), new long[] {7, 8, 9})) {
            for (int round = 0; round < 3; round++) {
                long entry = table.insertNew(round);
                assertEquals(round, Memory.getLong(entry));
                assertEquals(0, Memory.getLong(entry + GroupTable.LINK));
                for (int word = 0; word < 3; word++) {
                    assertEquals(7 + word, Memory.getLong(entry + GroupTable.BODY + 8L * word));
                    Memory.putLong(entry + GroupTable.BODY + 8L * word, -1);
                }
                Memory.putLong(entry + GroupTable.LINK, -1);
                table.remove(entry);
            }
            table.touched(5);
        }
    }

    /** All hashes of one neighbourhood at the end of the index, so that entries lie in a row round it, at each number of them. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 30, 31, 32, 33, 127, 128, 129})
    void entriesOfOneNeighbourhoodAreFoundWhicheverGo(int most) {
        try (GroupTable table = new GroupTable(leaks.allocator(), new long[0])) {
            SplittableRandom random = new SplittableRandom(most);
            Map<Long, Long> expected = new HashMap<>();
            for (int round = 0; round < 6 * most; round++) {
                boolean grows = round < 2 * most || round > 4 * most;
                long hash = (random.nextInt(3) == 0 ? 0x00FE_0000_0000_0000L : 0x00FF_FF00_0000_0000L)
                        | (long) random.nextInt(3) << 56
                        | random.nextInt(most);
                long entry = find(table, hash);
                assertEquals(expected.getOrDefault(hash, 0L), entry);
                if (entry == 0 && grows && expected.size() < most) {
                    expected.put(hash, table.insertNew(hash));
                } else if (entry != 0 && !grows) {
                    table.remove(entry);
                    expected.remove(hash);
                }
                assertEquals(expected.size(), table.size());
            }
            expected.forEach((hash, entry) -> assertEquals(entry, find(table, hash)));
            for (int atOnce : new int[] {1, 3, 1_000}) {
                assertEquals(new HashSet<>(expected.values()), entries(table, atOnce));
            }
        }
    }

    @Test
    void theIndexIsAtMostHalfFullAndAllMemoryIsCounted() {
        try (GroupTable table = new GroupTable(leaks.allocator(), new long[] {1})) {
            assertEquals(63, table.mask());
            assertEquals(64 - 6, table.shift());
            assertEquals(leaks.allocator().getAllocatedMemory(), table.bytes());
            SplittableRandom random = new SplittableRandom(5);
            for (int i = 1; i <= 2_000; i++) {
                table.insertNew(random.nextLong());
                assertEquals(i < 32 ? 63 : i < 128 ? 255 : i < 512 ? 1_023 : 4_095, table.mask());
                assertEquals(leaks.allocator().getAllocatedMemory(), table.bytes());
            }
            assertEquals(2_000, entries(table, 77).size());
            assertEquals(64 - 12, table.shift());
        }
    }

    @Test
    void removedEntriesMakeRoomForOthers() {
        try (GroupTable table = new GroupTable(leaks.allocator(), new long[20])) {
            table.insertNew(1);
            long bytes = table.bytes();
            for (int i = 0; i < 2_000; i++) {
                table.remove(table.insertNew(i));
            }
            assertEquals(bytes, table.bytes());
        }
    }

    /** With the same hashes at the same addresses, so that whatever is left would be taken for them. */
    @Test
    void aClearedTableIsEmptyAndKeepsItsMemory() {
        try (GroupTable table = new GroupTable(leaks.allocator(), new long[] {1})) {
            long bytes = 0;
            for (int round = 0; round < 4; round++) {
                for (long hash = 0; hash < 31; hash++) {
                    long spread = (hash + 1) * 2 << 64 - KeyGroups.BITS - 6 | hash; // each slot, the last too
                    assertEquals(0, find(table, spread));
                    table.insertNew(spread);
                    assertEquals(0, find(table, spread + (1L << 64 - KeyGroups.BITS - 6)));
                    table.remove(table.insertNew(spread + (1L << 64 - KeyGroups.BITS - 6)));
                }
                long text = table.memory().allocate(5_000);
                Memory.putLong(text, 1);
                assertEquals(round == 0 ? table.bytes() : bytes, table.bytes());
                bytes = table.bytes();
                table.clear();
                assertEquals(0, table.size());
                assertEquals(bytes, table.bytes());
                for (long slot = 0; slot <= table.mask(); slot++) {
                    assertEquals(0, table.word(slot));
                }
                table.memory().allocate(8);
                table.clear(); // of no entries, but what they would point to
            }
        }
    }

    /** Those that come one after the other are of all parts of the index: they fill a smaller table evenly. */
    @Test
    void entriesComeScattered() {
        try (GroupTable table = new GroupTable(leaks.allocator(), new long[0])) {
            for (long hash = 0; hash < 8_000; hash++) {
                table.insertNew(hash * 0x9E3779B97F4A7C15L);
            }
            long[] some = new long[1_000];
            int[] count = new int[1];
            table.entries(0, some, count);
            assertEquals(1_000, count[0]);
            int[] quarters = new int[4];
            for (long entry : some) {
                quarters[(int) (Memory.getLong(entry) << KeyGroups.BITS >>> 62)]++;
            }
            for (int quarter : quarters) {
                assertTrue(quarter > 100, quarter + " of a quarter");
            }
            assertEquals(8_000, entries(table, 999).size());
        }
    }

    @Test
    void aCursorGivesAllEntriesOnceAndThenNone() {
        try (GroupTable table = new GroupTable(leaks.allocator(), new long[0])) {
            assertEquals(0, new EntryCursor(table, 5).advance());
            Set<Long> expected = new HashSet<>();
            for (int i = 0; i < 50; i++) {
                expected.add(table.insertNew(i * 0x9E3779B97F4A7C15L));
            }
            EntryCursor cursor = new EntryCursor(table, 7);
            Set<Long> found = new HashSet<>();
            for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
                assertTrue(count <= 7);
                for (int i = 0; i < count; i++) {
                    assertTrue(found.add(cursor.entries()[i]));
                }
            }
            assertEquals(expected, found);
            assertEquals(0, cursor.advance());
        }
    }

    @Test
    void aTableIsClosedTwice() {
        GroupTable table = new GroupTable(leaks.allocator(), new long[0]);
        table.insertNew(1);
        table.close();
        table.close();
        assertEquals(0, leaks.allocator().getAllocatedMemory());
    }

    @Test
    void aTableThatWasClearedHasNoEntryInAnyPlace() {
        try (GroupTable table = new GroupTable(leaks.allocator(), new long[0])) {
            table.insertNew(-1);
            for (long slot = 0; slot <= table.mask(); slot += table.mask() / 4) {
                table.insertNew(slot << 64 - KeyGroups.BITS - Long.numberOfTrailingZeros(table.mask() + 1));
            }
            assertNotEquals(0, table.word(table.mask()));
            table.clear();
            assertEquals(0, table.size());
            for (long slot = 0; slot <= table.mask(); slot++) {
                assertEquals(0, table.word(slot), "slot " + slot);
            }
        }
    }
}
