package dev.millrace.sketch.entropy;

import java.util.Arrays;

/**
 * A carry-less binary arithmetic coder of 32 bits. One object either writes or reads. A reader takes what lies behind the
 * last byte for zeros, so a writer leaves trailing zeros out.
 */
final class BinaryCoder {
    static final int PROBABILITY_BITS = 16;

    private final boolean reading;
    private byte[] bytes;
    private int at;
    private int low;
    private int high = -1;
    private int code;

    /** A writer. */
    BinaryCoder() {
        reading = false;
        bytes = new byte[256];
    }

    /** A reader. */
    BinaryCoder(byte[] bytes) {
        reading = true;
        this.bytes = bytes;
        for (int i = 0; i < 4; i++) {
            code = code << 8 | next();
        }
    }

    private int next() {
        if (at >= bytes.length) {
            return 0;
        }
        return bytes[at++] & 0xff;
    }

    /**
     * Writes {@code bit}, or reads and returns one.
     *
     * @param one how likely a 1 is, in 1/65536, between 1 and 65535
     */
    int code(int bit, int one) {
        int middle = low + (int) ((high - low & 0xffff_ffffL) * one >>> PROBABILITY_BITS);
        int result = reading ? Integer.compareUnsigned(code, middle) <= 0 ? 1 : 0 : bit;
        if (result != 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
        while ((low ^ high) >>> 24 == 0) {
            if (reading) {
                code = code << 8 | next();
            } else {
                put(high >>> 24);
            }
            low <<= 8;
            high = high << 8 | 0xff;
        }
        return result;
    }

    private void put(int value) {
        if (at == bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * bytes.length);
        }
        bytes[at++] = (byte) value;
    }

    /** What a writer wrote, complete. */
    byte[] finish() {
        // The shortest number within [low, high] when zeros follow it.
        for (int kept = 0; kept <= 4; kept++) {
            int mask = kept == 0 ? 0 : kept == 4 ? -1 : -1 << 32 - 8 * kept;
            int number = (low & mask) == low ? low : (low & mask) + (kept == 0 ? 0 : 1 << 32 - 8 * kept);
            boolean wrapped = Integer.compareUnsigned(number, low) < 0;
            if (!wrapped && Integer.compareUnsigned(number, high) <= 0) {
                for (int i = 0; i < kept; i++) {
                    put(number >>> 24 - 8 * i);
                }
                break;
            }
        }
        int length = at;
        while (length > 0 && bytes[length - 1] == 0) {
            length--;
        }
        return Arrays.copyOf(bytes, length);
    }
}
