package dev.millrace.memory;

import java.lang.reflect.Field;
import java.nio.MappedByteBuffer;
import java.util.Objects;
import sun.misc.Unsafe;

/**
 * Raw reads and writes at addresses, little endian, unchecked: the caller has proved the bounds. The one place that
 * names {@code Unsafe}; generated code calls these and the JIT inlines them.
 *
 * <p>With {@code -Dmillrace.memory.checked=true}, for tests, {@link CheckedMemory} holds each of them to what is allocated;
 * without, the JIT leaves nothing of that.
 */
public final class Memory {
    private static final Unsafe UNSAFE = unsafe();

    /** Where a byte[]'s elements start, for the copies below. */
    public static final long BYTE_ARRAY_OFFSET = Unsafe.ARRAY_BYTE_BASE_OFFSET;

    /**
     * More than this is copied or filled piece by piece: in the midst of a piece the thread does not come to a safepoint, and all
     * others would wait for it; for some 300 ms where memory of 1 GB is touched for the first time.
     */
    private static final long PIECE_BYTES = 1 << 20;

    /** Constant, so that the JIT drops what depends on it. */
    static final boolean CHECKED = Boolean.getBoolean("millrace.memory.checked");

    static {
        if (CHECKED) {
            CheckedMemory.install();
        }
    }

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
        return CHECKED ? CheckedMemory.allocate(bytes) : UNSAFE.allocateMemory(bytes);
    }

    /** Gives back what {@link #allocate} gave. */
    public static void free(long address) {
        if (CHECKED) {
            CheckedMemory.free(address);
        } else {
            UNSAFE.freeMemory(address);
        }
    }

    /** Ends a file's mapping at once; its bytes are not to be touched any more. Once for each. */
    public static void unmap(MappedByteBuffer mapping) {
        UNSAFE.invokeCleaner(mapping);
    }

    private static void check(long address, long bytes) {
        if (CHECKED) {
            CheckedMemory.access(address, bytes);
        }
    }

    private static void checkArray(byte[] array, int offset, int bytes) {
        if (CHECKED) {
            Objects.checkFromIndexSize(offset, bytes, array.length);
        }
    }

    /**
     * Says that bytes within an allocation are nobody's for now: a red zone, or a block that was given back. The first of them
     * is at a multiple of eight. Only matters where accesses are checked.
     */
    public static void forbid(long address, long bytes) {
        if (CHECKED) {
            CheckedMemory.mark(address, bytes, false);
        }
    }

    /** Says that bytes within an allocation may be touched again; the first of them is at a multiple of eight. */
    public static void permit(long address, long bytes) {
        if (CHECKED) {
            CheckedMemory.mark(address, bytes, true);
        }
    }

    public static byte getByte(long address) {
        check(address, 1);
        return UNSAFE.getByte(address);
    }

    public static short getShort(long address) {
        check(address, 2);
        return UNSAFE.getShort(address);
    }

    public static int getInt(long address) {
        check(address, 4);
        return UNSAFE.getInt(address);
    }

    public static long getLong(long address) {
        check(address, 8);
        return UNSAFE.getLong(address);
    }

    /** What is read after it was written before the word, if {@link #putLongRelease} wrote that. The address is a multiple of eight. */
    public static long getLongAcquire(long address) {
        check(address, 8);
        return UNSAFE.getLongVolatile(null, address);
    }

    public static float getFloat(long address) {
        check(address, 4);
        return UNSAFE.getFloat(address);
    }

    public static double getDouble(long address) {
        check(address, 8);
        return UNSAFE.getDouble(address);
    }

    public static void putByte(long address, byte value) {
        check(address, 1);
        UNSAFE.putByte(address, value);
    }

    public static void putShort(long address, short value) {
        check(address, 2);
        UNSAFE.putShort(address, value);
    }

    public static void putInt(long address, int value) {
        check(address, 4);
        UNSAFE.putInt(address, value);
    }

    public static void putLong(long address, long value) {
        check(address, 8);
        UNSAFE.putLong(address, value);
    }

    /** Whoever reads the word by {@link #getLongAcquire} reads what was written before. The address is a multiple of eight. */
    public static void putLongRelease(long address, long value) {
        check(address, 8);
        UNSAFE.putOrderedLong(null, address, value);
    }

    public static void putFloat(long address, float value) {
        check(address, 4);
        UNSAFE.putFloat(address, value);
    }

    public static void putDouble(long address, double value) {
        check(address, 8);
        UNSAFE.putDouble(address, value);
    }

    /** Bit {@code index} of a bitmap, as Arrow numbers them: least significant first. */
    public static boolean getBit(long address, int index) {
        check(address + (index >>> 3), 1);
        return (UNSAFE.getByte(address + (index >>> 3)) >>> (index & 7) & 1) != 0;
    }

    public static void setBit(long address, int index) {
        long at = address + (index >>> 3);
        check(at, 1);
        UNSAFE.putByte(at, (byte) (UNSAFE.getByte(at) | 1 << (index & 7)));
    }

    public static void clearBit(long address, int index) {
        long at = address + (index >>> 3);
        check(at, 1);
        UNSAFE.putByte(at, (byte) (UNSAFE.getByte(at) & ~(1 << (index & 7))));
    }

    /** Copies bytes; where they come from and where they go may overlap. */
    public static void copy(long from, long to, long bytes) {
        check(from, bytes);
        check(to, bytes);
        if (bytes <= PIECE_BYTES) {
            UNSAFE.copyMemory(from, to, bytes);
        } else {
            copyPieces(from, to, bytes);
        }
    }

    private static void copyPieces(long from, long to, long bytes) {
        boolean backwards = from < to; // what they share must be read before it is written
        for (long done = 0; done < bytes; done += PIECE_BYTES) {
            long piece = Math.min(PIECE_BYTES, bytes - done);
            long at = backwards ? bytes - done - piece : done;
            UNSAFE.copyMemory(from + at, to + at, piece);
        }
    }

    public static void copyIn(byte[] from, int offset, long to, int bytes) {
        check(to, bytes);
        checkArray(from, offset, bytes);
        UNSAFE.copyMemory(from, BYTE_ARRAY_OFFSET + offset, null, to, bytes);
    }

    public static void copyOut(long from, byte[] to, int offset, int bytes) {
        check(from, bytes);
        checkArray(to, offset, bytes);
        UNSAFE.copyMemory(null, from, to, BYTE_ARRAY_OFFSET + offset, bytes);
    }

    public static void fill(long address, long bytes, byte value) {
        check(address, bytes);
        if (bytes <= PIECE_BYTES) {
            UNSAFE.setMemory(address, bytes, value);
        } else {
            fillPieces(address, bytes, value);
        }
    }

    private static void fillPieces(long address, long bytes, byte value) {
        for (long done = 0; done < bytes; done += PIECE_BYTES) {
            UNSAFE.setMemory(address + done, Math.min(PIECE_BYTES, bytes - done), value);
        }
    }

    public static boolean equal(long a, long b, int bytes) {
        check(a, bytes);
        check(b, bytes);
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
        check(a, aBytes);
        check(b, bBytes);
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
