package dev.millrace.engine.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Closing;
import dev.millrace.engine.state.Hashing;
import dev.millrace.testing.memory.LeakCheck;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Tag("long")
@Timeout(120)
class AddressTableTest {
    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    /** Four addresses share each hash. */
    private static long hash(long address) {
        return Hashing.finish(Hashing.step(Hashing.SEED, address >>> 5));
    }

    private static List<Long> found(AddressTable.Words words, long hash) {
        List<Long> found = new ArrayList<>();
        if (words.isEmpty()) {
            return found;
        }
        long slot = words.first(hash);
        for (long word = words.word(slot); word != AddressTable.FREE; word = words.word(slot)) {
            if (AddressTable.Words.mayBe(word, hash) && hash(word & AddressTable.ADDRESS) == hash) {
                found.add(word & AddressTable.ADDRESS);
            }
            slot = words.next(slot);
        }
        return found;
    }

    private static void assertFinds(Set<Long> expected, AddressTable.Words words, long address, String when) {
        List<Long> found = found(words, hash(address));
        assertEquals(found.size(), new HashSet<>(found).size(), "twice " + when);
        for (long other = address & -32; other < (address | 31); other += 8) {
            assertEquals(expected.contains(other), found.contains(other), other + " " + when);
        }
    }

    @Test
    void whateverIsAddedAndRemovedIsFoundJustAsInAModel() {
        for (long seed = 1; seed <= 6; seed++) {
            for (int factor : new int[] {2, 4}) {
                randomOperations(seed, factor);
            }
        }
    }

    private void randomOperations(long seed, int factor) {
        SplittableRandom random = new SplittableRandom(seed);
        Set<Long> model = new HashSet<>();
        try (AddressTable table = new AddressTable(memory.allocator(), AddressTableTest::hash, factor)) {
            int addresses = 8;
            for (int step = 0; step < 30_000; step++) {
                if (step % 5_000 == 0) {
                    addresses = 1 << 3 + random.nextInt(12); // few, so that most slots' addresses are gone, or many
                }
                long address = 8L * (1 + random.nextInt(addresses));
                switch (random.nextInt(8)) {
                    case 0, 1, 2, 3 -> {
                        table.reserve(1);
                        table.add(address, hash(address));
                        model.add(address);
                    }
                    case 4, 5 -> {
                        table.remove(address, hash(address));
                        model.remove(address);
                    }
                    case 6 -> {
                        long other = address ^ 8; // of the same hash
                        if (model.contains(address) && !model.contains(other) && other != 0) {
                            table.replace(address, other, hash(address));
                            model.remove(address);
                            model.add(other);
                        }
                    }
                    default -> table.reserve(random.nextInt(20) == 0 ? random.nextInt(500) : 1);
                }
                assertEquals(model.size(), table.count());
                assertFinds(model, table.words(), address, "at step " + step + " of seed " + seed);
                if (step % 1_000 == 0) {
                    for (long each = 8; each < 8L * (1 << 15); each += 32) {
                        assertFinds(model, table.words(), each, "at step " + step + " of seed " + seed);
                    }
                }
                if (random.nextInt(100) == 0) {
                    Closing.all(table.takeReplaced());
                }
            }
        }
    }

    @Test
    void noCallMovesMoreThanSomeAddressesHoweverManyThereAre() {
        long[] moved = new long[1];
        LongUnaryOperator counted = address -> {
            moved[0]++;
            return hash(address);
        };
        try (AddressTable table = new AddressTable(memory.allocator(), counted, 2)) {
            long staged = 0;
            long next = 8;
            long most = 0;
            for (int epoch = 0; epoch < 60; epoch++) { // each is made known row by row, and then added
                for (int row = 0; row < 5_000; row++) {
                    long before = moved[0];
                    table.reserve(++staged);
                    most = Math.max(most, moved[0] - before);
                }
                for (; staged > 0; staged--) {
                    long before = moved[0];
                    table.add(next, hash(next));
                    next += 8;
                    most = Math.max(most, moved[0] - before);
                }
                Closing.all(table.takeReplaced());
            }
            assertEquals(300_000, table.count());
            assertTrue(moved[0] > 300_000, "it grew");
            assertTrue(most <= 8, most + " at once");
        }
    }

    @Test
    void whatComesAndGoesTakesNoMoreAndMoreMemory() {
        try (AddressTable table = new AddressTable(memory.allocator(), AddressTableTest::hash, 2)) {
            for (long address = 8; address < 8L * 400_000; address += 8) {
                table.reserve(1);
                table.add(address, hash(address));
                table.remove(address - 8L * 1_000, hash(address - 8L * 1_000));
                Closing.all(table.takeReplaced());
            }
            assertEquals(1_000, table.count());
            assertTrue(table.bytes() <= 8 * 8_192, table.bytes() + " bytes");
        }
    }

    /** As who reads without a lock does: with the slots that it took when it began. */
    @Test
    void whatIsThereAllTheTimeIsFoundInSlotsThatWereTakenBeforeOthersWere() {
        SplittableRandom random = new SplittableRandom(3);
        try (AddressTable table = new AddressTable(memory.allocator(), AddressTableTest::hash, 2)) {
            Map<Long, AddressTable.Words> taken = new HashMap<>();
            Set<Long> staying = new HashSet<>();
            for (int step = 0; step < 50_000; step++) {
                long address = 8L * (1 + random.nextInt(20_000));
                table.reserve(1);
                table.add(address, hash(address));
                if (random.nextInt(50) == 0 && taken.putIfAbsent(address, table.words()) == null) {
                    staying.add(address);
                }
                long leaving = 8L * (1 + random.nextInt(20_000));
                if (!staying.contains(leaving)) {
                    table.remove(leaving, hash(leaving));
                }
                if (step % 500 == 0) {
                    int at = step;
                    taken.forEach((stays, words) -> assertEquals(
                            1,
                            found(words, hash(stays)).stream()
                                    .filter(stays::equals)
                                    .count(),
                            stays + " at step " + at));
                }
            }
            assertTrue(taken.values().stream().distinct().count() > 3, "it grew meanwhile");
            Closing.all(table.takeReplaced());
        }
    }

    @Test
    void roomThatIsMadeAheadIsThereForAllThatWasPromisedWhateverComesMeanwhile() {
        try (AddressTable table = new AddressTable(memory.allocator(), AddressTableTest::hash, 2)) {
            Set<Long> expected = new HashSet<>();
            table.reserve(1);
            int steps = 0;
            for (long address = 32; !table.prepare(100_000); address += 8, steps++) {
                table.reserve(1);
                table.add(address, hash(address));
                expected.add(address);
            }
            assertTrue(steps > 10, "in " + steps + " steps");
            long bytes = table.bytes();
            for (long address = 1 << 20; expected.size() < 100_000; address += 8) {
                table.reserve(1);
                table.add(address, hash(address));
                expected.add(address);
            }
            assertEquals(bytes, table.bytes());
            for (long address : expected) {
                assertTrue(found(table.words(), hash(address)).contains(address));
            }
        }
    }
}
