package dev.millrace.connectors.avro;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;

/** Goes over the bytes of one record, never beyond its end, and bounds what it may cost. Owned by one thread. */
final class AvroInput {
    private static final int DEEPEST = 64;
    private static final int FREE_ELEMENTS = 1 << 16; // of no bytes, as an array of nulls has them

    private long at;
    private long end;
    private int depth;
    private long elements; // that may still come

    void start(long address, int length) {
        at = address;
        end = address + length;
        depth = 0;
        elements = FREE_ELEMENTS + (long) length;
    }

    boolean isAtEnd() {
        return at == end;
    }

    int left() {
        return (int) (end - at);
    }

    /** Where the next byte is. */
    long address() {
        return at;
    }

    /** Passes over bytes. */
    void pass(long bytes) {
        if (bytes < 0 || bytes > end - at) {
            throw damaged("it ends in the midst of a value");
        }
        at += bytes;
    }

    boolean readBoolean() {
        pass(1);
        return Memory.getByte(at - 1) == 1;
    }

    /** A number of variable length: seven bits a byte from the lowest on, the sign in the lowest bit. */
    long readLong() {
        long from = at;
        if (from < end) {
            long first = Memory.getByte(from);
            if (first >= 0) {
                at = from + 1;
                return first >>> 1 ^ -(first & 1);
            }
        }
        long bits = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (from >= end) {
                throw damaged("it ends in the midst of a number");
            }
            long b = Memory.getByte(from++);
            bits |= (b & 0x7f) << shift;
            if (b >= 0) {
                at = from;
                return bits >>> 1 ^ -(bits & 1);
            }
        }
        throw damaged("a number of more than ten bytes");
    }

    int readInt() {
        long value = readLong();
        if (value != (int) value) {
            throw damaged("a number of more than 32 bits is no int");
        }
        return (int) value;
    }

    float readFloat() {
        pass(4);
        return Memory.getFloat(at - 4);
    }

    double readDouble() {
        pass(8);
        return Memory.getDouble(at - 8);
    }

    /** The length of the bytes that follow, all of which are there. */
    int readLength() {
        long length = readLong();
        if (length < 0 || length > end - at) {
            throw damaged("a length of " + length + " where " + (end - at) + " bytes are left");
        }
        return (int) length;
    }

    /** How many elements the next block of an array or map has; 0 at its end. */
    long readBlock() {
        long count = readLong();
        if (count < 0) {
            readLong(); // its length, for who passes over it
            count = -count;
        }
        spend(count);
        return count;
    }

    private void spend(long count) {
        if (count < 0 || count > elements) {
            throw damaged("more elements than it has bytes");
        }
        elements -= count;
    }

    /** Which of so many. */
    int readIndex(int count) {
        long index = readLong();
        if (index < 0 || index >= count) {
            throw damaged("number " + index + " of " + count + " choices");
        }
        return (int) index;
    }

    void enter() {
        if (++depth > DEEPEST) {
            throw damaged("values within values, " + DEEPEST + " deep");
        }
    }

    void leave() {
        depth--;
    }

    static MillraceException damaged(String why) {
        return MillraceException.user(
                SqlState.INVALID_BINARY_REPRESENTATION, "the record is not Avro of its schema: " + why);
    }
}
