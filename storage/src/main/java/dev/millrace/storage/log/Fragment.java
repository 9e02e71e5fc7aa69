package dev.millrace.storage.log;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * A fragment of a log, as the package describes it, as it is read: one object that is filled again and again. For one thread.
 * Writing is static.
 */
final class Fragment {
    static final int HEADER = 32;
    static final int MOST_CONTENTS = 1 << 18;
    static final int WHOLE = 1;
    static final int FIRST = 2;
    static final int MIDDLE = 3;
    static final int LAST = 4;
    static final int MARK = 5;
    private static final int SPREAD = 0x9E3779B1;

    private final CRC32C crc = new CRC32C();
    long number;
    long durable;
    int gap;
    int kind;
    int length;

    /** Bytes that a fragment takes with contents of a length. */
    static int bytes(int length) {
        return HEADER + (length + 7 & -8);
    }

    boolean beginsRecord() {
        return kind == WHOLE || kind == FIRST;
    }

    boolean endsRecord() {
        return kind == WHOLE || kind == LAST;
    }

    /**
     * Completes a fragment whose contents are already in a little endian buffer: writes what is before and behind them.
     *
     * @param start where in the buffer the fragment begins, with its contents 32 bytes on
     * @param position of the fragment in the segment
     */
    static void finish(
            ByteBuffer buffer,
            int start,
            int length,
            long number,
            long durable,
            int gap,
            int kind,
            int seed,
            long position,
            CRC32C crc) {
        buffer.putInt(start + 4, length);
        buffer.putLong(start + 8, number);
        buffer.putLong(start + 16, durable);
        buffer.putInt(start + 24, gap);
        buffer.putInt(start + 28, kind);
        int end = start + bytes(length);
        for (int i = start + HEADER + length; i < end; i++) {
            buffer.put(i, (byte) 0);
        }
        buffer.putInt(start, checksum(buffer, start, end, seed, position, crc));
    }

    private static int checksum(ByteBuffer buffer, int start, int end, int seed, long position, CRC32C crc) {
        ByteBuffer checked = buffer.duplicate().limit(end).position(start + 4);
        crc.reset();
        crc.update(checked);
        return (int) crc.getValue() ^ seed ^ (int) position * SPREAD;
    }

    /**
     * Whether a fragment is at a place of a little endian buffer, whole and with its checksum; if so, this is filled with it.
     *
     * @param position of that place in the segment
     */
    boolean read(ByteBuffer buffer, int start, int seed, long position) {
        if (buffer.limit() - start < HEADER) {
            return false;
        }
        kind = buffer.getInt(start + 28);
        length = buffer.getInt(start + 4);
        if (kind < WHOLE || kind > MARK || length < 0 || length > MOST_CONTENTS) {
            return false;
        }
        int bytes = bytes(length);
        if (buffer.limit() - start < bytes
                || checksum(buffer, start, start + bytes, seed, position, crc) != buffer.getInt(start)) {
            return false;
        }
        number = buffer.getLong(start + 8);
        durable = buffer.getLong(start + 16);
        gap = buffer.getInt(start + 24);
        return true;
    }
}
