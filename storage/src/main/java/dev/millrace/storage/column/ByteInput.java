package dev.millrace.storage.column;

import dev.millrace.memory.Memory;

/** Bytes at an address, little endian, none of which is read beyond the last. The memory is the caller's. For one thread. */
public final class ByteInput {
    /** So many bytes behind the last may be read as well, whatever they are: decoders read whole words. */
    public static final int SLACK = 16;

    private long at;
    private final long end;

    public ByteInput(long address, long bytes) {
        this.at = address;
        this.end = address + bytes;
    }

    /** Bytes that were not read yet. */
    public long remaining() {
        return end - at;
    }

    /** Address of so many bytes, which count as read. */
    public long take(long bytes) {
        if (bytes < 0 || bytes > end - at) {
            throw new EncodingException(bytes + " bytes are needed where " + (end - at) + " are left");
        }
        long address = at;
        at += bytes;
        return address;
    }

    public byte getByte() {
        return Memory.getByte(take(1));
    }

    public int getInt() {
        return Memory.getInt(take(4));
    }

    public long getLong() {
        return Memory.getLong(take(8));
    }

    /** A number of things, of which there are at most so many. */
    public int getCount(int most) {
        int count = getInt();
        if (count < 0 || count > most) {
            throw new EncodingException(count + " are counted where there are at most " + most);
        }
        return count;
    }

    /** The bytes of a section. */
    ByteInput section() {
        int length = getInt();
        return new ByteInput(take(length), length);
    }

    /** Says that nothing is to follow. */
    public void end() {
        if (at != end) {
            throw new EncodingException((end - at) + " bytes too many");
        }
    }
}
