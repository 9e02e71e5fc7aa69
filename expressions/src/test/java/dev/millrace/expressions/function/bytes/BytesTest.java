package dev.millrace.expressions.function.bytes;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.memory.Memory;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class BytesTest {
    private static final int LONGEST = 300;
    private static final int AROUND = 40; // bytes before and behind, which must stay

    @Test
    void copiesOfAnyLengthAreExactAndWriteNothingElse() {
        byte[] source = new byte[LONGEST];
        new SplittableRandom(1).nextBytes(source);
        long from = Memory.allocate(LONGEST);
        long to = Memory.allocate(LONGEST + 2 * AROUND);
        try {
            Memory.copyIn(source, 0, from, LONGEST);
            for (int length = 0; length <= LONGEST; length++) {
                byte[] expected = new byte[LONGEST + 2 * AROUND];
                Arrays.fill(expected, (byte) 7);
                System.arraycopy(source, 0, expected, AROUND, length);
                Memory.fill(to, expected.length, (byte) 7);
                Bytes.copy(from, to + AROUND, length);
                byte[] copied = new byte[expected.length];
                Memory.copyOut(to, copied, 0, copied.length);
                assertArrayEquals(expected, copied, "of " + length);
            }
        } finally {
            Memory.free(from);
            Memory.free(to);
        }
    }

    @Test
    void eachByteOfATextOfAnyLengthCounts() {
        byte[] source = new byte[LONGEST];
        new SplittableRandom(2).nextBytes(source);
        long a = Memory.allocate(LONGEST);
        long b = Memory.allocate(LONGEST);
        try {
            Memory.copyIn(source, 0, a, LONGEST);
            Memory.copyIn(source, 0, b, LONGEST);
            for (int length = 0; length < LONGEST; length++) {
                byte behind = Memory.getByte(b + length);
                Memory.putByte(b + length, (byte) ~behind); // not part of it
                assertTrue(Memory.equal(a, b, length), "of " + length);
                Memory.putByte(b + length, behind);
                for (int at = 0; at < length; at++) {
                    byte value = Memory.getByte(b + at);
                    Memory.putByte(b + at, (byte) (value ^ 1));
                    assertFalse(Memory.equal(a, b, length), "byte " + at + " of " + length);
                    Memory.putByte(b + at, value);
                }
            }
            assertEquals(0, Memory.compare(a, LONGEST, b, LONGEST));
        } finally {
            Memory.free(a);
            Memory.free(b);
        }
    }
}
