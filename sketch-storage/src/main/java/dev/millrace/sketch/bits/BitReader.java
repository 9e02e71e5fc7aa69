package dev.millrace.sketch.bits;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Reads what {@link BitWriter} wrote. Reading past the end throws that the segment is damaged. Not thread-safe. */
public final class BitReader {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int MOST_BITS = 56;

    private final byte[] bytes; // with 8 bytes of room behind the end
    private final long end; // in bits
    private long at; // in bits

    /** Reads {@code count} bytes from {@code from} on; they are copied. */
    public BitReader(byte[] source, int from, int count) {
        byte[] own = new byte[count + 8];
        System.arraycopy(source, from, own, 0, count);
        this.bytes = own;
        this.end = 8L * count;
    }

    private BitReader(BitReader other, long at) {
        this.bytes = other.bytes;
        this.end = other.end;
        this.at = at;
    }

    /** Another reader over the same bytes, at this one's place. */
    public BitReader fork() {
        return new BitReader(this, at);
    }

    public long read(int count) {
        if (count > MOST_BITS) {
            long low = read(32);
            return low | read(count - 32) << 32;
        }
        if (at + count > end) {
            throw Damage.damaged("it ends early");
        }
        long value = (long) LONGS.get(bytes, (int) (at >>> 3)) >>> (at & 7);
        at += count;
        return value & (1L << count) - 1;
    }

    public int readInt(int count) {
        return (int) read(count);
    }

    public boolean flag() {
        return read(1) != 0;
    }

    /** An exponential Golomb code; the value is unsigned. */
    public long golomb(int order) {
        long window = (long) LONGS.get(bytes, (int) (at >>> 3)) >>> (at & 7);
        int zeros = Long.numberOfTrailingZeros(window);
        int length = 2 * zeros + 1 + order;
        if (length > MOST_BITS || at + length > end) {
            return longGolomb(order);
        }
        at += length;
        long high = (window >>> zeros + 1 & (1L << zeros) - 1 | 1L << zeros) - 1;
        return high << order | window >>> 2 * zeros + 1 & (1L << order) - 1;
    }

    /** One that is longer than what is read at a time. */
    private long longGolomb(int order) {
        int zeros = 0;
        while (true) {
            long window = (long) LONGS.get(bytes, (int) (at >>> 3)) >>> (at & 7);
            int found = Math.min(Long.numberOfTrailingZeros(window), MOST_BITS);
            at += found;
            zeros += found;
            if (zeros > 64 || at >= end) {
                throw Damage.damaged(zeros > 64 ? "a number has more than 64 bits" : "it ends early");
            }
            if (found < MOST_BITS) {
                break;
            }
        }
        at++;
        long high = zeros == 64 ? read(64) - 1 : (read(zeros) | 1L << zeros) - 1;
        return high << order | read(order);
    }

    /** A number of items: an exponential Golomb code that may not exceed a limit. */
    public int count(int order, int limit, String what) {
        long value = golomb(order);
        if (value < 0 || value > limit) {
            throw Damage.beyondLimit(what, value, limit);
        }
        return (int) value;
    }

    public long sized() {
        int bits = readInt(7);
        Damage.check(bits <= 64, "a number has more than 64 bits");
        return bits <= 1 ? bits : read(bits - 1) | 1L << bits - 1;
    }

    /** Whole bytes from the next byte's beginning on. */
    public byte[] bytes(int count) {
        align();
        if (count < 0 || at + 8L * count > end) {
            throw Damage.damaged("it ends early");
        }
        int from = (int) (at >>> 3);
        at += 8L * count;
        return Arrays.copyOfRange(bytes, from, from + count);
    }

    public void align() {
        at = at + 7 & ~7L;
    }

    /** Bits read so far. */
    public long position() {
        return at;
    }

    /** Goes to a place by its distance in bits from the beginning. */
    public void position(long bits) {
        if (bits < 0 || bits > end) {
            throw Damage.damaged("a part lies outside of it");
        }
        at = bits;
    }

    /** Bits left. */
    public long remaining() {
        return end - at;
    }

    public static long unzigzag(long value) {
        return value >>> 1 ^ -(value & 1);
    }
}
