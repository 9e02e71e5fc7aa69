package dev.millrace.engine.state.frozen;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class EntryMarksTest {
    private static Set<Long> all(EntryMarks marks) {
        Set<Long> all = new HashSet<>();
        long[] some = new long[64 * 3];
        int[] count = new int[1];
        for (long place = 0; place >= 0; ) {
            place = marks.next(place, some, count);
            for (int i = 0; i < count[0]; i++) {
                assertEquals(true, all.add(some[i]), "once");
                assertEquals(true, place < 0 || marks.place(some[i]) < place, "those before a place are given");
            }
        }
        return all;
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 13, 20, 34})
    void marksAreASetOfAddresses(int bits) {
        SplittableRandom random = new SplittableRandom(bits);
        try (RootAllocator root = new RootAllocator();
                EntryMarks marks = new EntryMarks(root);
                EntryMarks others = new EntryMarks(root)) {
            for (int round = 0; round < 3; round++) {
                Set<Long> expected = new HashSet<>();
                List<Long> drawn = new ArrayList<>();
                for (int step = 0; step < 20_000; step++) {
                    long address = 0x7F00_0000_0000L + (random.nextLong(1L << bits) & -8L);
                    drawn.add(address);
                    if (random.nextInt(3) == 0) {
                        long other = drawn.get(random.nextInt(drawn.size()));
                        marks.remove(other);
                        expected.remove(other);
                    } else {
                        marks.add(address);
                        expected.add(address);
                    }
                    long looked = drawn.get(random.nextInt(drawn.size()));
                    assertEquals(expected.contains(looked), marks.place(looked) >= 0);
                }
                assertEquals(expected.size(), marks.size());
                assertEquals(expected, all(marks));
                others.addAll(marks);
                others.add(8);
                marks.addAll(others);
                expected.add(8L);
                assertEquals(expected, all(marks));
                assertEquals(expected.size(), marks.size());
                marks.clear();
                others.clear();
                assertEquals(Set.of(), all(marks));
                assertEquals(0, marks.size());
            }
        }
    }
}
