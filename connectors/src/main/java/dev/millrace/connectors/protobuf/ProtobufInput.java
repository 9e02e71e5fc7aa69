package dev.millrace.connectors.protobuf;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;

/** Goes over the bytes of one message, never beyond its end. Owned by one thread. */
final class ProtobufInput {
    static final int VARINT = 0;
    static final int FIXED64 = 1;
    static final int BYTES = 2;
    static final int GROUP = 3;
    static final int GROUP_END = 4;
    static final int FIXED32 = 5;

    private static final int DEEPEST = 64;

    private long at;
    private long end;
    private int depth;

    void start(long address, int length) {
        at = address;
        end = address + length;
        depth = 0;
    }

    boolean isAtEnd() {
        return at == end;
    }

    long address() {
        return at;
    }

    /** Reads only as far as there; gives back where the end was before. */
    long narrow(int length) {
        if (++depth > DEEPEST) {
            throw damaged("messages within messages, " + DEEPEST + " deep");
        }
        long before = end;
        end = at + length;
        return before;
    }

    void widen(long before) {
        depth--;
        end = before;
    }

    long readVarint() {
        long from = at;
        long bits = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (from >= end) {
                throw damaged("it ends in the midst of a number");
            }
            long b = Memory.getByte(from++);
            bits |= (b & 0x7f) << shift;
            if (b >= 0) {
                at = from;
                return bits;
            }
        }
        throw damaged("a number of more than ten bytes");
    }

    int readInt() {
        pass(4);
        return Memory.getInt(at - 4);
    }

    long readLong() {
        pass(8);
        return Memory.getLong(at - 8);
    }

    /** The length of the bytes that follow, all of which are there. */
    int readLength() {
        long length = readVarint();
        if (length < 0 || length > end - at) {
            throw damaged("a length of " + Long.toUnsignedString(length) + " where " + (end - at) + " bytes are left");
        }
        return (int) length;
    }

    void pass(int bytes) {
        if (bytes > end - at) {
            throw damaged("it ends in the midst of a value");
        }
        at += bytes;
    }

    /** A number of a field and how it is written. */
    int readTag() {
        long tag = readVarint();
        if (tag != (int) tag || tag >>> 3 == 0) {
            throw damaged("a field without a number");
        }
        return (int) tag;
    }

    /** Passes over a field. */
    void skip(int tag) {
        switch (tag & 7) {
            case VARINT -> readVarint();
            case FIXED64 -> pass(8);
            case BYTES -> pass(readLength());
            case FIXED32 -> pass(4);
            case GROUP -> skipGroup(tag >>> 3);
            default -> throw damaged("a field of no kind");
        }
    }

    private void skipGroup(int number) {
        if (++depth > DEEPEST) {
            throw damaged("messages within messages, " + DEEPEST + " deep");
        }
        while (true) {
            int tag = readTag();
            if ((tag & 7) == GROUP_END) {
                if (tag >>> 3 != number) {
                    throw damaged("a group that ends as another");
                }
                depth--;
                return;
            }
            skip(tag);
        }
    }

    static MillraceException damaged(String why) {
        return MillraceException.user(
                SqlState.INVALID_BINARY_REPRESENTATION, "the record is no message of its type: " + why);
    }
}
