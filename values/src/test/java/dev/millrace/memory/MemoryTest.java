package dev.millrace.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryTest {
    private static final int MOST = 5 << 20; // several pieces, and part of one

    /** Forwards, backwards, onto itself, and by less and by more than a piece. */
    @ParameterizedTest
    @ValueSource(ints = {1, -1, 0, 4_097, -4_097, (1 << 20) + 3, -(1 << 20) - 3, 3 << 20})
    void whatOverlapsIsCopiedAsIfItDidNot(int by) {
        for (int bytes : new int[] {0, 1, 1 << 20, (1 << 20) + 1, (2 << 20) - 1, 2 << 20, MOST / 2}) {
            byte[] all = new byte[2 * MOST];
            new Random(by).nextBytes(all);
            byte[] expected = all.clone();
            int from = MOST / 2;
            System.arraycopy(all, from, expected, from + by, bytes);
            long address = Memory.allocate(all.length);
            try {
                Memory.copyIn(all, 0, address, all.length);
                Memory.copy(address + from, address + from + by, bytes);
                byte[] copied = new byte[all.length];
                Memory.copyOut(address, copied, 0, copied.length);
                assertArrayEquals(expected, copied, bytes + " bytes");
            } finally {
                Memory.free(address);
            }
        }
    }

    @Test
    void fillsWhatIsAskedForAndNoMore() {
        for (int bytes : new int[] {0, 1, 1 << 20, (1 << 20) + 1, (2 << 20) - 1, 2 << 20, MOST - 200}) {
            byte[] expected = new byte[MOST];
            Arrays.fill(expected, 100, 100 + bytes, (byte) 7);
            long address = Memory.allocate(MOST);
            try {
                Memory.copyIn(new byte[MOST], 0, address, MOST);
                Memory.fill(address + 100, bytes, (byte) 7);
                byte[] filled = new byte[MOST];
                Memory.copyOut(address, filled, 0, MOST);
                assertArrayEquals(expected, filled, bytes + " bytes");
            } finally {
                Memory.free(address);
            }
        }
    }
}
