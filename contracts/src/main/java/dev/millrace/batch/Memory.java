package dev.millrace.batch;

import java.lang.reflect.Field;
import sun.misc.Unsafe;

/**
 * Raw reads and writes at addresses, little endian, unchecked: the caller has proved the bounds. The one place that
 * names {@code Unsafe}; generated code calls these and the JIT inlines them.
 */
public final class Memory {
    private static final Unsafe UNSAFE = unsafe();

    /** Where a byte[]'s elements start, for the copies below. */
    public static final long BYTE_ARRAY_OFFSET = Unsafe.ARRAY_BYTE_BASE_OFFSET;

    private Memory() {}

    private static Unsafe unsafe() {
        try {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Scratch memory outside any allocator's account; {@link #free} it soon. */
    public static long allocate(long bytes) {
        return UNSAFE.allocateMemory(bytes);
    }

    /** Gives back what {@link #allocate} gave. */
    public static void free(long address) {
        UNSAFE.freeMemory(address);
    }

    public static byte getByte(long address) {
        return UNSAFE.getByte(address);
    }

    public static short getShort(long address) {
        return UNSAFE.getShort(address);
    }

    public static int getInt(long address) {
        return UNSAFE.getInt(address);
    }

    public static long getLong(long address) {
        return UNSAFE.getLong(address);
    }

    public static float getFloat(long address) {
        return UNSAFE.getFloat(address);
    }

    public static double getDouble(long address) {
        return UNSAFE.getDouble(address);
    }

    public static void putByte(long address, byte value) {
        UNSAFE.putByte(address, value);
    }

    public static void putShort(long address, short value) {
        UNSAFE.putShort(address, value);
    }

    public static void putInt(long address, int value) {
        UNSAFE.putInt(address, value);
    }

    public static void putLong(long address, long value) {
        UNSAFE.putLong(address, value);
    }

    public static void putFloat(long address, float value) {
        UNSAFE.putFloat(address, value);
    }

    public static void putDouble(long address, double value) {
        UNSAFE.putDouble(address, value);
    }

    /** Bit {@code index} of a bitmap, as Arrow numbers them: least significant first. */
    public static boolean getBit(long address, int index) {
        return (UNSAFE.getByte(address + (index >>> 3)) >>> (index & 7) & 1) != 0;
    }

    public static void setBit(long address, int index) {
        long at = address + (index >>> 3);
        UNSAFE.putByte(at, (byte) (UNSAFE.getByte(at) | 1 << (index & 7)));
    }

    public static void clearBit(long address, int index) {
        long at = address + (index >>> 3);
        UNSAFE.putByte(at, (byte) (UNSAFE.getByte(at) & ~(1 << (index & 7))));
    }

    public static void copy(long from, long to, long bytes) {
        UNSAFE.copyMemory(from, to, bytes);
    }

    public static void copyIn(byte[] from, int offset, long to, int bytes) {
        UNSAFE.copyMemory(from, BYTE_ARRAY_OFFSET + offset, null, to, bytes);
    }

    public static void copyOut(long from, byte[] to, int offset, int bytes) {
        UNSAFE.copyMemory(null, from, to, BYTE_ARRAY_OFFSET + offset, bytes);
    }

    public static void fill(long address, long bytes, byte value) {
        UNSAFE.setMemory(address, bytes, value);
    }

    public static boolean equal(long a, long b, int bytes) {
        int at = 0;
        if (bytes >= 8) {
            int last = bytes - 8;
            for (; at < last; at += 8) {
                if (UNSAFE.getLong(a + at) != UNSAFE.getLong(b + at)) {
                    return false;
                }
            }
            return UNSAFE.getLong(a + last) == UNSAFE.getLong(b + last); // overlaps the word before
        }
        for (; at < bytes; at++) {
            if (UNSAFE.getByte(a + at) != UNSAFE.getByte(b + at)) {
                return false;
            }
        }
        return true;
    }

    /** Order of unsigned bytes, shorter first on a tie: PostgreSQL's C collation for UTF-8. */
    public static int compare(long a, int aBytes, long b, int bBytes) {
        int common = Math.min(aBytes, bBytes);
        int at = 0;
        for (; at + 8 <= common; at += 8) {
            long x = UNSAFE.getLong(a + at);
            long y = UNSAFE.getLong(b + at);
            if (x != y) {
                return Long.compareUnsigned(Long.reverseBytes(x), Long.reverseBytes(y));
            }
        }
        for (; at < common; at++) {
            int difference = (UNSAFE.getByte(a + at) & 0xff) - (UNSAFE.getByte(b + at) & 0xff);
            if (difference != 0) {
                return difference;
            }
        }
        return aBytes - bBytes;
    }
}
