package dev.millrace.storage.column;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Bytes that become more, little endian; kept from use to use. For one thread. 54000 where they are more than an array holds. */
public final class ByteOutput {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int MOST = Integer.MAX_VALUE - 64;

    private byte[] bytes = new byte[1024];
    private int size;

    /** Forgets all. */
    public void clear() {
        size = 0;
    }

    /** How many there are. */
    public int size() {
        return size;
    }

    /** Those from 0 to the size, until more are written. */
    public byte[] array() {
        return bytes;
    }

    /** Makes room for so many more, and counts them as written; gives the place of the first. */
    int take(int more) {
        int at = size;
        ensure(more);
        size += more;
        return at;
    }

    private void ensure(int more) {
        long wanted = (long) size + more;
        if (wanted > bytes.length) {
            if (wanted > MOST) {
                throw MillraceException.user(
                        SqlState.PROGRAM_LIMIT_EXCEEDED,
                        "a column of " + wanted + " bytes cannot be written: 2 GB at most");
            }
            bytes = Arrays.copyOf(bytes, (int) Math.min(MOST, Math.max(wanted, 2L * bytes.length)));
        }
    }

    public void putByte(int value) {
        ensure(1);
        bytes[size++] = (byte) value;
    }

    public void putInt(int value) {
        ensure(4);
        INT.set(bytes, size, value);
        size += 4;
    }

    public void putLong(long value) {
        ensure(8);
        LONG.set(bytes, size, value);
        size += 8;
    }

    public void putBytes(byte[] from, int offset, int length) {
        ensure(length);
        System.arraycopy(from, offset, bytes, size, length);
        size += length;
    }

    /** Begins a section; its length is written by {@link #endSection}. */
    int beginSection() {
        putInt(0);
        return size;
    }

    void endSection(int begin) {
        INT.set(bytes, begin - 4, size - begin);
    }

    /** Values of so many bits each, from the least significant bit on, to whole bytes. */
    void putPacked(long[] values, int from, int count, long base, int width) {
        int length = packedBytes(count, width);
        int at = take(length);
        long word = 0;
        int filled = 0;
        for (int i = from; i < from + count && width > 0; i++) {
            long value = values[i] - base;
            word |= value << filled;
            filled += width;
            if (filled >= 64) {
                LONG.set(bytes, at, word);
                at += 8;
                filled -= 64;
                word = filled == 0 ? 0 : value >>> (width - filled);
            }
        }
        for (; filled > 0; filled -= 8, word >>>= 8) {
            bytes[at++] = (byte) word;
        }
    }

    static int packedBytes(int count, int width) {
        return (int) (((long) count * width + 7) >>> 3);
    }
}
