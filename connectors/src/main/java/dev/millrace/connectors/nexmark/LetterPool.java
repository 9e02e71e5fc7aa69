package dev.millrace.connectors.nexmark;

import dev.millrace.connectors.random.Draws;
import dev.millrace.memory.Memory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A fixed pool of random lower-case letters, small enough for the L1 cache. Random text is a slice of it at a random
 * place: copying eight letters at a time is an order of magnitude cheaper than drawing each.
 */
final class LetterPool {
    /** Places a slice may start at; a power of two. */
    private static final int PLACES = 1 << 13;

    private static final int LONGEST = 512;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final byte[] POOL = new byte[PLACES + LONGEST];

    static {
        for (int i = 0; i < POOL.length; i++) {
            POOL[i] = (byte) ('a' + Draws.below(Draws.draw(77, i), 26));
        }
    }

    private LetterPool() {}

    /** The place a draw stands for, from its bits {@code shift} to {@code shift + 12}. */
    static int place(long draw, int shift) {
        return (int) (draw >>> shift) & PLACES - 1;
    }

    /** The eight letters at a place and after it. */
    static long eight(int place) {
        return (long) LONGS.get(POOL, place);
    }

    /** Copies {@code bytes} letters, at most 512. */
    static void copy(int place, long to, int bytes) {
        Memory.copyIn(POOL, place, to, bytes);
    }

    /** Up to eight characters as they lie in memory. */
    static long packed(String upToEight) {
        long packed = 0;
        for (int i = upToEight.length() - 1; i >= 0; i--) {
            packed = packed << 8 | upToEight.charAt(i);
        }
        return packed;
    }
}
