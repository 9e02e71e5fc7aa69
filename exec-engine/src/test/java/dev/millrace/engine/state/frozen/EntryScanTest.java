package dev.millrace.engine.state.frozen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.state.GroupTable;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables that are gone over while they grow, and filled again in that order. */
@Tag("long")
final class EntryScanTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 31, 32, 5_000, 80_000})
    void eachEntryIsGivenOnceThoughTheIndexGrows(int there) {
        SplittableRandom random = new SplittableRandom(5);
        try (RootAllocator root = new RootAllocator();
                GroupTable table = new GroupTable(root, new long[1])) {
            Set<Long> toCome = new HashSet<>();
            for (int i = 0; i < there; i++) {
                toCome.add(table.insertNew(random.nextLong()));
            }
            EntryScan scan = new EntryScan(table);
            while (!scan.isDone()) {
                int count = scan.advance(EntryScan.SLOTS);
                for (int i = 0; i < count; i++) {
                    assertTrue(toCome.remove(scan.entries()[i]), "given twice, or when it was not to come");
                }
                for (int i = 0; i < there / 20; i++) {
                    long hash = random.nextLong();
                    long entry = table.insertNew(hash);
                    if (scan.isToCome(hash)) {
                        toCome.add(entry);
                    }
                }
            }
            assertEquals(Set.of(), toCome);
        }
    }

    /** As a checkpoint's parts are read: few entries at a time, by a table that does not know how many there will be. */
    @Test
    void anotherTableIsFilledEvenlyInItsOrder() {
        SplittableRandom random = new SplittableRandom(6);
        try (RootAllocator root = new RootAllocator();
                GroupTable from = new GroupTable(root, new long[0]);
                GroupTable to = new GroupTable(root, new long[0])) {
            for (int i = 0; i < 200_000; i++) {
                from.insertNew(random.nextLong());
            }
            long probes = 0;
            EntryScan scan = new EntryScan(from);
            for (int count = scan.advance(EntryScan.SLOTS); count > 0; count = scan.advance(EntryScan.SLOTS)) {
                for (int i = 0; i < count; i++) {
                    long hash = Memory.getLong(scan.entries()[i]);
                    long slot = hash << KeyGroups.BITS >>> to.shift();
                    for (; to.word(slot) != 0; slot = (slot + 1) & to.mask()) {
                        probes++;
                    }
                    to.insert(hash, slot);
                }
            }
            assertEquals(200_000, to.size());
            assertTrue(probes < 4_000_000, probes + " occupied slots were looked at");
        }
    }
}
