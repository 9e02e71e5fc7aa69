package dev.millrace.memory;

/**
 * A cursor over bytes that somebody else sent, with their bounds: the one way from a length or count in such bytes to an
 * address. All arithmetic is of 64 bits; what would lie outside throws {@link OutOfBytes}, and nothing of it is read.
 * Numbers are in network order, as PostgreSQL's protocol has them. The memory stays its owner's. Not thread-safe; one reader
 * can be pointed at one piece after the other.
 */
public final class ByteReader {
    private long at;
    private long end;

    /** Bytes say that there are more of them than there are. Without a trace of the stack: what it is about, its catcher knows. */
    public static final class OutOfBytes extends RuntimeException {
        private static final long serialVersionUID = 1;

        private OutOfBytes(long wanted, long left) {
            super(wanted + " bytes wanted, " + left + " left", null, false, false);
        }
    }

    /** A reader of nothing, to be pointed at something. */
    public ByteReader() {}

    /** A reader of {@code length} bytes at {@code address}. */
    public ByteReader(long address, long length) {
        reset(address, length);
    }

    /** Begins anew, with {@code length} bytes at {@code address}. */
    public void reset(long address, long length) {
        if (length < 0 || address + length < address) {
            throw new IllegalArgumentException(length + " bytes");
        }
        at = address;
        end = address + length;
    }

    /** Bytes left. */
    public long remaining() {
        return end - at;
    }

    /** Whether so many are left; never for a negative number. */
    public boolean has(long bytes) {
        return bytes >= 0 && bytes <= end - at;
    }

    /** Where the next byte lies; {@link #remaining} of them may be read from there. */
    public long address() {
        return at;
    }

    /** Passes bytes over and returns where they begin: all of them may be read from there. */
    public long take(long bytes) {
        if (!has(bytes)) {
            throw new OutOfBytes(bytes, end - at);
        }
        long from = at;
        at += bytes;
        return from;
    }

    /** Ends after so many more bytes; returns where it ended before, for {@link #widen}. */
    public long narrow(long bytes) {
        if (!has(bytes)) {
            throw new OutOfBytes(bytes, end - at);
        }
        long before = end;
        end = at + bytes;
        return before;
    }

    /** Ends again where it did before {@link #narrow}; what was left of the narrow part is passed over. */
    public void widen(long before) {
        at = end;
        end = before;
    }

    public byte readByte() {
        return Memory.getByte(take(1));
    }

    public short readShort() {
        return Short.reverseBytes(Memory.getShort(take(2)));
    }

    public int readUnsignedShort() {
        return readShort() & 0xffff;
    }

    public int readInt() {
        return Integer.reverseBytes(Memory.getInt(take(4)));
    }

    public long readLong() {
        return Long.reverseBytes(Memory.getLong(take(8)));
    }
}
