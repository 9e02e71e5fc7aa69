package dev.millrace.sketch.bits;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Appends bits to a growing array, least significant bit first. Not thread-safe. */
public final class BitWriter {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int MOST_BITS = 56;

    private byte[] bytes = new byte[256];
    private int length; // whole bytes written
    private long pending; // bits not yet in bytes
    private int pendingBits; // 0..7 between calls

    /** The low {@code count} bits of a value, 0 to 64 of them. */
    public void write(long value, int count) {
        if (count > MOST_BITS) {
            write(value, 32);
            write(value >>> 32, count - 32);
            return;
        }
        if (length + 8 > bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * bytes.length);
        }
        long all = pending | (value & (1L << count) - 1) << pendingBits;
        LONGS.set(bytes, length, all);
        int bits = pendingBits + count;
        length += bits >>> 3;
        pending = bits >>> 3 == 8 ? 0 : all >>> (bits & ~7);
        pendingBits = bits & 7;
    }

    public void flag(boolean value) {
        write(value ? 1 : 0, 1);
    }

    /** Exponential Golomb code of order {@code order} of a value taken as unsigned: short for small values. */
    public void golomb(long value, int order) {
        long high = value >>> order;
        int bits = 64 - Long.numberOfLeadingZeros(high + 1);
        if (high == -1) {
            bits = 65; // 2^64, whose low 64 bits are 0
        }
        if (bits - 1 > 32) {
            write(0, 32);
            write(1L << bits - 1 - 32, bits - 32);
        } else {
            write(1L << bits - 1, bits);
        }
        write(high + 1, bits - 1);
        write(value, order);
    }

    /** Bits that {@link #golomb} takes. */
    public static int golombBits(long value, int order) {
        long high = value >>> order;
        return 2 * (63 - Long.numberOfLeadingZeros(high + 1)) + 1 + order;
    }

    /** A value of any size behind its bit length: 7 bits and its own without the leading one. */
    public void sized(long value) {
        int bits = 64 - Long.numberOfLeadingZeros(value);
        write(bits, 7);
        if (bits > 1) {
            write(value, bits - 1);
        }
    }

    /** Whole bytes, after filling up the current one with zeros. */
    public void bytes(byte[] source, int from, int count) {
        align();
        if (length + count + 8 > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + count + 8));
        }
        System.arraycopy(source, from, bytes, length, count);
        length += count;
    }

    /** Fills the current byte up with zeros. */
    public void align() {
        if (pendingBits != 0) {
            write(0, 8 - pendingBits);
        }
    }

    /** Appends what another writer holds, bit for bit. */
    public void append(BitWriter other) {
        int at = 0;
        for (; at + 4 <= other.length; at += 4) {
            write((long) LONGS.get(other.bytes, at) & 0xffff_ffffL, 32);
        }
        for (; at < other.length; at++) {
            write(other.bytes[at], 8);
        }
        write(other.pending, other.pendingBits);
    }

    public long bitCount() {
        return 8L * length + pendingBits;
    }

    /** Forgets everything written; keeps the memory. */
    public void reset() {
        length = 0;
        pending = 0;
        pendingBits = 0;
    }

    /** Everything written, the last byte filled up with zeros. */
    public byte[] toByteArray() {
        byte[] result = Arrays.copyOf(bytes, length + (pendingBits > 0 ? 1 : 0));
        if (pendingBits > 0) {
            result[length] = (byte) pending;
        }
        return result;
    }

    /** A signed value as an unsigned one: 0, -1, 1, -2 ... become 0, 1, 2, 3 ... */
    public static long zigzag(long value) {
        return value << 1 ^ value >> 63;
    }

    /** The exponential Golomb order with which some values, of which this is the mean, are short. */
    public static int orderFor(double mean) {
        int order = 0;
        while (order < 62 && mean > 1.5 * (1L << order)) {
            order++;
        }
        return order;
    }
}
