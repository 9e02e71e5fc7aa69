package dev.millrace.server.copy;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.ByteReader;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeStyle;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Makes batches of what is copied in. Bytes come in pieces of any size; whole rows become batches, which are handed over
 * as soon as they are full.
 *
 * <p>A row that cannot be read fails the copy, with its line and column; batches handed over before stay where they went.
 */
public final class CopyInput implements AutoCloseable {
    private static final int ROWS_PER_BATCH = 8192;
    private static final int MOST_ROW_BYTES = 64 << 20;
    private static final int ROOM = 64 << 10;
    private static final int LONG_ROW = 64 << 10;

    private final Schema schema;
    private final Consumer<Batch> batches;
    private final List<ColumnWriter> columns = new ArrayList<>();
    private final RowScanner scanner;
    private final TextBuffer pending;
    private long
            nextLook; // bytes pending from which on a long row may be looked at again, so that all looks together are
    // few
    private int row;
    private long rows;

    /**
     * @param schema the columns that are copied, in their order
     * @param style in which dates and times are read
     * @param batches takes each batch over
     */
    public CopyInput(
            Schema schema, CopyOptions options, TimeStyle style, BufferAllocator allocator, Consumer<Batch> batches) {
        this.schema = schema;
        this.batches = batches;
        this.scanner = options.form() == CopyOptions.Form.BINARY
                ? new BinaryScanner(this)
                : new LineScanner(this, options, allocator);
        this.pending = new TextBuffer(allocator, ROOM);
        try {
            schema.fields().forEach(field -> columns.add(new ColumnWriter(field, ROWS_PER_BATCH, allocator)));
            columns.forEach(column -> column.inStyle(style));
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Takes more bytes. */
    public void write(long address, int length) {
        if (pending.length() == 0) {
            int used = scanner.scan(address, length, false);
            keep(address + used, length - used);
            return;
        }
        pending.append(address, length);
        requireBounded();
        if (pending.length() >= nextLook && scanner.mayEnd(address, length)) {
            scanPending(false);
            nextLook = pending.length() > LONG_ROW ? 2 * pending.length() : 0;
        }
    }

    private void scanPending(boolean last) {
        int length = (int) pending.length();
        int used = scanner.scan(pending.address(), length, last);
        if (used > 0) {
            Memory.copy(pending.address() + used, pending.address(), length - used);
            pending.truncate(length - used);
        }
        requireBounded();
    }

    private void keep(long address, int length) {
        if (length > 0) {
            pending.append(address, length);
            requireBounded();
        }
    }

    private void requireBounded() {
        if (pending.length() > MOST_ROW_BYTES) {
            throw MillraceException.resources(
                    SqlState.PROGRAM_LIMIT_EXCEEDED, "row " + (rows + 1) + " of the copy is longer than 64 MB");
        }
    }

    /** All bytes came: reads what is left, hands it over, and says how many rows there were. */
    public long finish() {
        scanPending(true);
        if (pending.length() > 0) {
            throw MillraceException.user(SqlState.BAD_COPY_FILE_FORMAT, "unexpected end of the copied data");
        }
        handOver();
        return rows;
    }

    // ---- for the scanners ------------------------------------------------------------------------------------------

    int columnCount() {
        return columns.size();
    }

    /** Sets a field of the row under way from its text. */
    void text(int column, long address, int length) {
        try {
            columns.get(column).putText(row, address, length);
        } catch (MillraceException e) {
            throw at(column, e);
        }
    }

    /** Sets a field of the row under way from its binary form, which is all that the reader has left. */
    void binary(int column, ByteReader field) {
        try {
            columns.get(column).putBinary(row, field);
        } catch (MillraceException e) {
            throw at(column, e);
        }
    }

    void nothing(int column) {
        if (!schema.field(column).nullable()) {
            throw at(
                    column,
                    MillraceException.user(
                            SqlState.NOT_NULL_VIOLATION,
                            "null value in column \"" + schema.field(column).name()
                                    + "\" violates not-null constraint"));
        }
        columns.get(column).putNull(row);
    }

    void endRow() {
        row++;
        rows++;
        if (row == ROWS_PER_BATCH) {
            handOver();
        }
    }

    /** An error of the row under way, which is named by its number from 1. */
    MillraceException malformed(String message) {
        return MillraceException.user(SqlState.BAD_COPY_FILE_FORMAT, message).in(place());
    }

    private MillraceException at(int column, MillraceException error) {
        return error.in(place() + ", column " + schema.field(column).name());
    }

    private String place() {
        return "COPY, row " + (rows + 1);
    }

    private void handOver() {
        if (row == 0) {
            return;
        }
        FieldVector[] vectors = columns.stream().map(column -> column.take(row)).toArray(FieldVector[]::new);
        int count = row;
        row = 0;
        batches.accept(Batch.of(schema, vectors, count));
    }

    @Override
    public void close() {
        Closing.all(columns);
        columns.clear();
        scanner.close();
        pending.close();
    }
}
