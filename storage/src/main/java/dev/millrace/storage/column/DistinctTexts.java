package dev.millrace.storage.column;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** The distinct ones of some strings of bytes, in the order in which they come first. For one thread. */
final class DistinctTexts {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long MIX = 0x9E3779B97F4A7C15L;

    private final long[] codes;
    private long[] lengths = new long[16];
    private int[] starts = new int[16]; // of each distinct one in the data it was made of
    private int[] table = new int[64]; // one more than the code; 0 for a free place
    private int size;
    private long bytes;

    private DistinctTexts(int count) {
        codes = new long[count];
    }

    /** One of the strings that lie one after the other; {@link #isEmpty} when it would not be shorter than they are. */
    static DistinctTexts of(long[] lengths, int count, byte[] data, int dataBytes) {
        DistinctTexts dictionary = new DistinctTexts(count);
        int most = Math.min(IntegerEncoding.MOST_ENTRIES, count / 2);
        int start = 0;
        for (int i = 0; i < count; i++) {
            int length = (int) lengths[i];
            dictionary.codes[i] = dictionary.code(data, start, length);
            start += length;
            if (dictionary.size > most || dictionary.bytes > dataBytes - (dataBytes >>> 2)) {
                dictionary.size = 0;
                return dictionary;
            }
        }
        return dictionary;
    }

    boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    /** Bytes of the distinct strings. */
    long bytes() {
        return bytes;
    }

    long[] codes() {
        return codes;
    }

    long[] lengths() {
        return lengths;
    }

    int start(int code) {
        return starts[code];
    }

    private int code(byte[] data, int start, int length) {
        int place = hash(data, start, length) & table.length - 1;
        while (table[place] != 0) {
            int code = table[place] - 1;
            if (lengths[code] == length
                    && Arrays.equals(data, starts[code], starts[code] + length, data, start, start + length)) {
                return code;
            }
            place = place + 1 & table.length - 1;
        }
        if (size == lengths.length) {
            lengths = Arrays.copyOf(lengths, 2 * size);
            starts = Arrays.copyOf(starts, 2 * size);
        }
        lengths[size] = length;
        starts[size] = start;
        bytes += length;
        table[place] = ++size;
        if (2 * size > table.length) {
            grow(data);
        }
        return size - 1;
    }

    private void grow(byte[] data) {
        table = new int[4 * table.length];
        for (int code = 0; code < size; code++) {
            int place = hash(data, starts[code], (int) lengths[code]) & table.length - 1;
            while (table[place] != 0) {
                place = place + 1 & table.length - 1;
            }
            table[place] = code + 1;
        }
    }

    private static int hash(byte[] data, int start, int length) {
        long hash = length;
        int at = start;
        for (; at + 8 <= start + length; at += 8) {
            hash = (hash ^ (long) LONG.get(data, at)) * MIX;
            hash ^= hash >>> 29;
        }
        for (; at < start + length; at++) {
            hash = (hash ^ data[at]) * MIX;
        }
        return (int) (hash >>> 32 ^ hash >>> 13);
    }
}
