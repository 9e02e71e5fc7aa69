package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ScratchTest {
    @Test
    void arraysAreLongEnough() {
        for (int atLeast : new int[] {0, 1, 255, 256, 257, 4_096, 20_000, 1 << 17, (1 << 17) + 1, 1_000_000}) {
            int[] ints = Scratch.ints(atLeast);
            long[] longs = Scratch.longs(atLeast);
            assertTrue(ints.length >= atLeast);
            assertTrue(longs.length >= atLeast);
            Scratch.free(ints);
            Scratch.free(longs);
        }
    }

    @Test
    void whatIsGivenBackIsLentAgain() {
        long[] first = Scratch.longs(5_000);
        Scratch.free(first);
        assertSame(first, Scratch.longs(6_000), "8,192 elements hold both");
        int[] ints = Scratch.ints(5_000);
        Scratch.free(ints);
        assertSame(ints, Scratch.ints(5_000));
    }

    @Test
    void whatIsLentIsLentToOne() {
        Set<Object> lent = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int round = 0; round < 3; round++) {
            List<int[]> all = new ArrayList<>();
            lent.clear();
            for (int i = 0; i < 50; i++) {
                int[] array = Scratch.ints(1_000);
                assertTrue(lent.add(array));
                all.add(array);
            }
            all.forEach(Scratch::free);
        }
    }

    @Test
    void arraysOfOthersAreNotTakenIn() {
        long[] odd = new long[5_000];
        Scratch.free(odd);
        for (int i = 0; i < 100; i++) {
            assertNotSame(odd, Scratch.longs(5_000));
        }
        assertEquals(0, Scratch.ints(0).length);
        Scratch.free(new long[0]);
    }
}
