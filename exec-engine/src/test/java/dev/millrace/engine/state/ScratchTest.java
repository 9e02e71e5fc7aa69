package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
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

    /** What a thread of its own is lent, which has nothing yet. */
    private static void onNewThread(Runnable test) {
        Throwable[] failure = new Throwable[1];
        Thread thread = new Thread(test, "new");
        thread.setUncaughtExceptionHandler((any, thrown) -> failure[0] = thrown);
        thread.start();
        assertDoesNotThrow(() -> thread.join());
        assertNull(failure[0]);
    }

    @Test
    void arraysOfEachLengthAreLentAgainUpToTheLongestThatIsKept() {
        for (int length = 256; length <= 1 << 17; length *= 2) {
            int each = length;
            onNewThread(() -> {
                int[] ints = Scratch.ints(each - 1);
                assertEquals(each, ints.length);
                assertEquals(each, Scratch.ints(each).length);
                Scratch.free(ints);
                assertSame(ints, Scratch.ints(each));
            });
            onNewThread(() -> {
                long[] longs = Scratch.longs(each - 1);
                assertEquals(each, longs.length);
                assertEquals(each, Scratch.longs(each).length);
                Scratch.free(longs);
                assertSame(longs, Scratch.longs(each));
            });
        }
    }

    /** So many elements that a thread keeps no more than a hundred thousand and some. */
    @Test
    void aThreadKeepsOnlySoMuch() {
        int half = 1 << 16;
        onNewThread(() -> {
            int[][] three = {Scratch.ints(half), Scratch.ints(half), Scratch.ints(half)};
            for (int[] each : three) {
                Scratch.free(each);
            }
            assertSame(three[1], Scratch.ints(half));
            assertSame(three[0], Scratch.ints(half));
            assertNotSame(three[2], Scratch.ints(half));
        });
        onNewThread(() -> {
            long[][] three = {Scratch.longs(half), Scratch.longs(half), Scratch.longs(half)};
            for (long[] each : three) {
                Scratch.free(each);
            }
            assertSame(three[1], Scratch.longs(half));
            assertSame(three[0], Scratch.longs(half));
            assertNotSame(three[2], Scratch.longs(half));
        });
    }

    @Test
    void whatIsLentAndGivenBackForEverIsTheSame() {
        onNewThread(() -> {
            int[] ints = Scratch.ints(9_000);
            long[] longs = Scratch.longs(9_000);
            for (int round = 0; round < 100; round++) {
                Scratch.free(ints);
                assertSame(ints, Scratch.ints(9_000));
                Scratch.free(longs);
                assertSame(longs, Scratch.longs(9_000));
            }
        });
    }

    @Test
    void moreOfALengthThanAreKeptAreGivenBack() {
        onNewThread(() -> {
            List<long[]> all = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                all.add(Scratch.longs(300));
            }
            all.forEach(Scratch::free);
            assertSame(all.get(5), Scratch.longs(300)); // six are kept
        });
    }
}
