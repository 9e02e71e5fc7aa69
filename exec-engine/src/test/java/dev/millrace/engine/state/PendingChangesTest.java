package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.LeakCheck;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What waits in arrays that grow: changes on their way out, and groups to be looked at. */
final class PendingChangesTest {
    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    @Test
    void changesAreTakenInTheOrderTheyCameHoweverMany() {
        PendingChanges changes = new PendingChanges();
        long added = 0;
        long taken = 0;
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 600; i++, added++) {
                changes.add(added, -added, 2 * added);
            }
            assertEquals(added - taken, changes.size());
            while (changes.size() > (round == 1 ? 0 : 50)) {
                int most = 33;
                PendingChanges.Some some = changes.take(most);
                assertEquals(Math.min(most, added - taken), some.size());
                for (int i = 0; i < some.size(); i++, taken++) {
                    assertEquals(taken, some.rows()[i]);
                    assertEquals(-taken, some.words()[i]);
                    assertEquals(2 * taken, some.weights()[i]);
                }
                assertEquals(added - taken, changes.size());
            }
        }
        changes.take(50);
        assertEquals(0, changes.size());
        assertEquals(0, changes.take(5).size());
    }

    @Test
    void aGroupIsAmongThoseToBeLookedAtOnce() {
        try (GroupTable table = new GroupTable(leaks.allocator(), new long[0])) {
            TouchedGroups groups = new TouchedGroups();
            long[] entries = new long[600];
            for (int i = 0; i < entries.length; i++) {
                entries[i] = table.insertNew(i * 0x9E3779B97F4A7C15L);
                groups.add(entries[i]);
                groups.add(entries[i]);
                assertEquals(1, Memory.getLong(entries[i] + GroupTable.LINK));
            }
            assertEquals(600, groups.count());
            for (int i = 0; i < entries.length; i++) {
                assertEquals(entries[i], groups.get(i));
            }
            Memory.putLong(entries[0] + GroupTable.LINK, 0);
            groups.keep(0, entries[599]);
            groups.truncate(1);
            assertEquals(1, groups.count());
            assertEquals(entries[599], groups.get(0));
            groups.add(entries[0]);
            groups.add(entries[5]); // nobody said it was looked at
            assertEquals(2, groups.count());
            assertEquals(entries[0], groups.get(1));
        }
    }

    @Test
    void groupsThatStayAreStillThereHoweverManyThereWere() {
        try (GroupTable table = new GroupTable(leaks.allocator(), new long[0])) {
            TouchedGroups groups = new TouchedGroups();
            for (int round = 0; round < 3; round++) {
                long[] entries = new long[2_000];
                for (int i = 0; i < entries.length; i++) {
                    entries[i] = table.insertNew((round * 2_000L + i) * 0x9E3779B97F4A7C15L);
                    groups.add(entries[i]);
                }
                groups.truncate(5);
                assertEquals(5, groups.count());
                for (int i = 0; i < 5; i++) {
                    assertEquals(entries[i], groups.get(i));
                }
                groups.truncate(0);
                assertEquals(0, groups.count());
            }
        }
    }
}
