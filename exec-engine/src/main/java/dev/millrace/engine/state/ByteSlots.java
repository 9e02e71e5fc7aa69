package dev.millrace.engine.state;

import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.checkpoint.SectionOutput;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * A byte string in 16 bytes of an entry. Up to 15 bytes lie in the slot itself, the length in its last byte; of a longer
 * one the slot has the first eight bytes, and a pointer to its length and bytes in a {@link StateMemory}, marked by a
 * last byte of 255. Little endian, so that a short string's bytes are contiguous.
 */
public final class ByteSlots {
    /** The longest string that lies in the slot itself. */
    public static final int INLINE_BYTES = 15;

    private static final long LONG_MARK = 0xFFL << 56;
    private static final long POINTER = (1L << 48) - 1;
    private static final int HEADER_BYTES = 8; // the length, and room to keep the bytes aligned

    private ByteSlots() {}

    /** The first eight bytes, zero padded. */
    public static long low(long address, int length) {
        if (length >= 8) {
            return Memory.getLong(address);
        }
        if (length >= 4) {
            long first = Memory.getInt(address) & 0xFFFFFFFFL;
            long last = Memory.getInt(address + length - 4) & 0xFFFFFFFFL;
            return first | last << ((length - 4) << 3);
        }
        if (length == 0) {
            return 0;
        }
        long first = Memory.getByte(address) & 0xFF;
        long middle = Memory.getByte(address + (length >>> 1)) & 0xFF;
        long last = Memory.getByte(address + length - 1) & 0xFF;
        return first | middle << ((length >>> 1) << 3) | last << ((length - 1) << 3);
    }

    /** What follows the first eight bytes: of a short string the rest and its length, of a long one a hash of it all. */
    public static long high(long address, int length) {
        if (length > INLINE_BYTES) {
            return Hashing.bytes(address, length);
        }
        long mark = (long) length << 56;
        return length <= 8 ? mark : Memory.getLong(address + length - 8) >>> ((16 - length) << 3) | mark;
    }

    /** Whether the slot holds this string, whose {@link #low} and {@link #high} are given. */
    public static boolean equal(long slot, long low, long high, long address, int length) {
        if (Memory.getLong(slot) != low) {
            return false;
        }
        long stored = Memory.getLong(slot + 8);
        return length <= INLINE_BYTES ? stored == high : equalLong(stored, address, length);
    }

    private static boolean equalLong(long stored, long address, int length) {
        if ((stored & LONG_MARK) != LONG_MARK) {
            return false;
        }
        long block = stored & POINTER;
        return Memory.getInt(block) == length && Memory.equal(block + HEADER_BYTES, address, length);
    }

    /** Whether two slots hold the same string. */
    public static boolean equal(long a, long b) {
        if (Memory.getLong(a) != Memory.getLong(b)) {
            return false;
        }
        return Memory.getLong(a + 8) == Memory.getLong(b + 8)
                || isLong(a) && isLong(b) && length(a) == length(b) && Memory.equal(address(a), address(b), length(a));
    }

    /** Writes a string into a slot whose former contents need no freeing. */
    public static void store(StateMemory memory, long slot, long address, int length) {
        if (length > INLINE_BYTES) {
            storeIn(memory.allocate(HEADER_BYTES + length), slot, address, length);
        } else {
            long low = low(address, length);
            long high = high(address, length);
            Memory.putLong(slot, low);
            Memory.putLong(slot + 8, high);
        }
    }

    /** Writes a string longer than {@link #INLINE_BYTES} into a block of {@link #blockBytes}, and has the slot point there. */
    public static void storeIn(long block, long slot, long address, int length) {
        Memory.putInt(block, length);
        Memory.copy(address, block + HEADER_BYTES, length);
        Memory.putLong(slot, low(block + HEADER_BYTES, length));
        Memory.putLong(slot + 8, LONG_MARK | block);
    }

    /** What a string takes outside of its slot, which is longer than {@link #INLINE_BYTES}. */
    public static long blockBytes(int length) {
        return HEADER_BYTES + (long) length;
    }

    /** Frees what the slot points to. */
    public static void free(StateMemory memory, long slot) {
        if (isLong(slot)) {
            memory.free(Memory.getLong(slot + 8) & POINTER, HEADER_BYTES + length(slot));
        }
    }

    /** Writes what a slot points to, if it does; its own words are written by others. */
    public static void write(long slot, DataOutput out) throws IOException {
        if (isLong(slot)) {
            SectionOutput.writeBytes(address(slot), length(slot), out);
        }
    }

    /** Replaces the stale pointer of a slot whose words were restored. */
    public static void read(StateMemory memory, long slot, DataInput in) throws IOException {
        if (isLong(slot)) {
            int length = SectionInput.readLength(in);
            long block = memory.allocate(HEADER_BYTES + length);
            Memory.putInt(block, length);
            SectionInput.readBytes(in, block + HEADER_BYTES, length);
            Memory.putLong(slot + 8, LONG_MARK | block);
        }
    }

    /** Where the bytes of a slot's string are. */
    public static long address(long slot) {
        return isLong(slot) ? (Memory.getLong(slot + 8) & POINTER) + HEADER_BYTES : slot;
    }

    /** How many bytes a slot's string has. */
    public static int length(long slot) {
        return isLong(slot) ? Memory.getInt(Memory.getLong(slot + 8) & POINTER) : Memory.getByte(slot + 15) & 0xFF;
    }

    /** Whether the string lies outside of the slot. */
    public static boolean isLong(long slot) {
        return Memory.getByte(slot + 15) == -1;
    }
}
