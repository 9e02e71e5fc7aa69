package dev.millrace.server.copy;

import dev.millrace.memory.ByteReader;

/** PostgreSQL's binary copy: a signature, flags, an extension; then rows of counted fields; then -1. */
final class BinaryScanner implements RowScanner {
    private static final long SIGNATURE = 0x5047434F50590AFFL; // PGCOPY\n\377\r\n\0
    private static final int SIGNATURE_END = 0x0D0A00;
    private static final int HEADER_BYTES = 19;
    private static final int COUNT_BYTES = 2;

    private final CopyInput rows;
    private final ByteReader in = new ByteReader();
    private boolean begun;
    private boolean ended;

    BinaryScanner(CopyInput rows) {
        this.rows = rows;
    }

    @Override
    public int scan(long address, int length, boolean last) {
        in.reset(address, length);
        if (!begun) {
            if (!takeHeader()) {
                return 0;
            }
            begun = true;
        }
        long at = in.address();
        while (!ended && in.has(COUNT_BYTES)) {
            int fields = in.readShort();
            if (fields == -1) {
                ended = true;
                break;
            }
            if (fields != rows.columnCount()) {
                throw rows.malformed("row field count is " + fields + ", expected " + rows.columnCount());
            }
            if (!isWhole(fields)) {
                break;
            }
            in.reset(at + COUNT_BYTES, address + length - at - COUNT_BYTES);
            row(fields);
            at = in.address();
        }
        return ended ? length : (int) (at - address);
    }

    /** Passes over what comes before the rows; false when it is not whole yet. */
    private boolean takeHeader() {
        if (!in.has(HEADER_BYTES)) {
            return false;
        }
        boolean signed = in.readLong() == SIGNATURE && in.readInt() >>> 8 == SIGNATURE_END;
        if (!signed) {
            throw rows.malformed("the data has no signature of a binary COPY");
        }
        in.take(Integer.BYTES - 1); // with the last byte before, the flags
        int extension = in.readInt();
        if (extension < 0) {
            throw rows.malformed("invalid header of a binary COPY");
        }
        if (!in.has(extension)) {
            return false;
        }
        in.take(extension);
        return true;
    }

    private boolean isWhole(int fields) {
        for (int field = 0; field < fields; field++) {
            if (!in.has(Integer.BYTES)) {
                return false;
            }
            int length = in.readInt();
            if (length < -1) {
                throw rows.malformed("invalid field size");
            }
            if (!in.has(Math.max(0, length))) {
                return false;
            }
            in.take(Math.max(0, length));
        }
        return true;
    }

    private void row(int fields) {
        for (int field = 0; field < fields; field++) {
            int length = in.readInt();
            if (length < 0) {
                rows.nothing(field);
            } else {
                long behind = in.narrow(length);
                rows.binary(field, in);
                in.widen(behind);
            }
        }
        rows.endRow();
    }

    @Override
    public boolean mayEnd(long address, int length) {
        return true; // a look at the row costs a step per field, not per byte
    }

    @Override
    public void close() {}
}
