package dev.millrace.server.copy;

import dev.millrace.batch.Memory;

/** PostgreSQL's binary copy: a signature, flags, an extension; then rows of counted fields; then -1. */
final class BinaryScanner implements RowScanner {
    private static final long SIGNATURE = 0x5047434F50590AFFL; // PGCOPY\n\377\r\n\0
    private static final int SIGNATURE_END = 0x0D0A00;
    private static final int HEADER_BYTES = 19;

    private final CopyInput rows;
    private boolean begun;
    private boolean ended;

    BinaryScanner(CopyInput rows) {
        this.rows = rows;
    }

    @Override
    public int scan(long address, int length, boolean last) {
        long at = address;
        long end = address + length;
        if (!begun) {
            long body = header(at, end);
            if (body < 0) {
                return 0;
            }
            at = body;
            begun = true;
        }
        while (!ended && end - at >= 2) {
            int fields = Short.reverseBytes(Memory.getShort(at));
            if (fields == -1) {
                ended = true;
                return length;
            }
            if (fields != rows.columnCount()) {
                throw rows.malformed("row field count is " + fields + ", expected " + rows.columnCount());
            }
            if (!isWhole(at + 2, end, fields)) {
                break;
            }
            at = row(at + 2, fields);
        }
        return ended ? length : (int) (at - address);
    }

    private long header(long at, long end) {
        if (end - at < HEADER_BYTES) {
            return -1;
        }
        boolean signed = Long.reverseBytes(Memory.getLong(at)) == SIGNATURE
                && Integer.reverseBytes(Memory.getInt(at + 8)) >>> 8 == SIGNATURE_END;
        if (!signed) {
            throw rows.malformed("the data has no signature of a binary COPY");
        }
        int extension = Integer.reverseBytes(Memory.getInt(at + 15));
        if (extension < 0) {
            throw rows.malformed("invalid header of a binary COPY");
        }
        return end - at < (long) HEADER_BYTES + extension ? -1 : at + HEADER_BYTES + extension;
    }

    private boolean isWhole(long from, long end, int fields) {
        long at = from;
        for (int field = 0; field < fields; field++) {
            if (end - at < 4) {
                return false;
            }
            int length = Integer.reverseBytes(Memory.getInt(at));
            if (length < -1) {
                throw rows.malformed("invalid field size");
            }
            at += 4 + Math.max(0, length);
            if (at > end) {
                return false;
            }
        }
        return true;
    }

    private long row(long from, int fields) {
        long at = from;
        for (int field = 0; field < fields; field++) {
            int length = Integer.reverseBytes(Memory.getInt(at));
            at += 4;
            if (length < 0) {
                rows.nothing(field);
            } else {
                rows.binary(field, at, length);
                at += length;
            }
        }
        rows.endRow();
        return at;
    }

    @Override
    public void close() {}
}
