package dev.millrace.engine.state.memory;

import dev.millrace.memory.Memory;

/**
 * What lies around each block of a {@link StateMemory} where assertions are on: words that nobody may write, and what the
 * block was asked for. A block that is given back twice, with another size than it was asked for with, or that was written
 * beyond its end, is found when it is given back, or when all are.
 *
 * <pre>
 *   8 bytes: size, state | block, up to eight bytes more than asked for | at least 8 bytes that stay as they are
 * </pre>
 */
public final class RedZones {
    static final int FRONT_BYTES = 8;
    static final int BACK_BYTES = 8;

    private static final int LIVE = 0x4C495645;
    private static final int FREE = 0x46524545;
    private static final byte UNTOUCHED = (byte) 0xA5;
    private static final byte STALE = (byte) 0xDB;

    private RedZones() {}

    /** Marks a block as given out. */
    static void open(long block, int size, long classBytes) {
        if (classBytes < size) {
            throw new AssertionError("a block of " + classBytes + " bytes for " + size);
        }
        Memory.permit(block - FRONT_BYTES, FRONT_BYTES + classBytes + BACK_BYTES);
        Memory.putInt(block - FRONT_BYTES, size);
        Memory.putInt(block - 4, LIVE);
        long end = end(block, size);
        Memory.fill(block, end - block, STALE); // whoever relies on zeros is found out
        Memory.fill(end, block + classBytes + BACK_BYTES - end, UNTOUCHED);
        forbid(block, end, classBytes);
    }

    /** Checks a block that is given back, and marks it so. */
    static void close(long block, int size, long classBytes) {
        check(block, classBytes);
        Memory.permit(block - FRONT_BYTES, FRONT_BYTES);
        int opened = Memory.getInt(block - FRONT_BYTES);
        boolean isLive = Memory.getInt(block - 4) == LIVE;
        if (isLive && opened == size) {
            Memory.putInt(block - 4, FREE);
        }
        Memory.forbid(block - FRONT_BYTES, FRONT_BYTES);
        if (!isLive || opened != size) {
            throw new AssertionError("a block of " + opened + " bytes, " + (isLive ? "live" : "not live")
                    + ", is given back as one of " + size);
        }
        Memory.fill(block, end(block, size) - block, STALE);
    }

    /** Checks what is around a block, in use or not. */
    static void check(long block, long classBytes) {
        int size = size(block);
        long end = end(block, size);
        Memory.permit(end, block + classBytes + BACK_BYTES - end);
        long at = end;
        while (at < block + classBytes + BACK_BYTES && Memory.getByte(at) == UNTOUCHED) {
            at++;
        }
        forbid(block, end, classBytes);
        if (at < block + classBytes + BACK_BYTES) {
            throw new AssertionError("a block of " + size + " bytes was written at " + (at - block));
        }
    }

    /** Where accesses are checked, the very access to what lies around a block is an error. */
    private static void forbid(long block, long end, long classBytes) {
        Memory.forbid(block - FRONT_BYTES, FRONT_BYTES);
        Memory.forbid(end, block + classBytes + BACK_BYTES - end);
    }

    /** What a block was asked for with. */
    static int size(long block) {
        Memory.permit(block - FRONT_BYTES, FRONT_BYTES);
        int state = Memory.getInt(block - 4);
        int size = Memory.getInt(block - FRONT_BYTES);
        Memory.forbid(block - FRONT_BYTES, FRONT_BYTES);
        if (state != LIVE && state != FREE || size < 0) {
            throw new AssertionError("what is before a block was written");
        }
        return size;
    }

    private static long end(long block, int size) {
        return block + Math.max(8, (size + 7L) & -8);
    }
}
