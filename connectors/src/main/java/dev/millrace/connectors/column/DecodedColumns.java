package dev.millrace.connectors.column;

import dev.millrace.batch.Closing;
import dev.millrace.error.MillraceException;
import dev.millrace.text.TimestampFormat;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * All columns of a relation in a batch under way. All are put for every row, so that which records are rejected does not depend on which
 * columns are asked for; these are what {@link #finish} gives. Not thread-safe.
 */
public final class DecodedColumns implements AutoCloseable {
    private final Schema declared;
    private final List<Integer> requested;
    private final ValueColumn[] columns;
    private int rows;

    /**
     * @param formats of the declared columns' dates and times
     * @param requested of the declared columns, in the order in which {@link #finish} gives them
     */
    public DecodedColumns(
            Schema declared,
            List<Optional<TimestampFormat>> formats,
            List<Integer> requested,
            BufferAllocator allocator) {
        this.declared = declared;
        this.requested = List.copyOf(requested);
        List<ValueColumn> made = new ArrayList<>();
        try {
            for (int i = 0; i < declared.size(); i++) {
                made.add(new ValueColumn(declared.field(i), formats.get(i), requested.contains(i), allocator));
            }
        } catch (RuntimeException | Error e) {
            Closing.all(made);
            throw e;
        }
        this.columns = made.toArray(ValueColumn[]::new);
    }

    public Schema declared() {
        return declared;
    }

    /** Where values of a declared column are put. */
    public ValueTarget column(int number) {
        return columns[number];
    }

    /** Starts a batch of up to so many rows. */
    public void begin(int mostRows) {
        rows = 0;
        for (ValueColumn column : columns) {
            column.begin(mostRows);
        }
    }

    /** Rows that were kept. */
    public int rows() {
        return rows;
    }

    /**
     * The row under way is whole.
     *
     * @throws MillraceException if a value is missing: then it is not kept, and {@link #failedColumn} says which
     */
    public void keep() {
        for (ValueColumn column : columns) {
            if (column.isMissing()) {
                throw column.missing();
            }
        }
        for (ValueColumn column : columns) {
            column.keep();
        }
        rows++;
    }

    /** The row under way is bad, and so are those that were kept from row {@code from} on: the first of a record. */
    public void drop(int from) {
        for (ValueColumn column : columns) {
            column.drop();
            column.truncate(from);
        }
        rows = from;
    }

    /** The column of which a value was refused; empty if none was. */
    public String failedColumn() {
        for (ValueColumn column : columns) {
            if (column.failed()) {
                return column.name();
            }
        }
        return "";
    }

    /** The finished columns, which the caller owns; the next batch is to begin. */
    public List<FieldVector> finish() {
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (int column : requested) {
                vectors.add(columns[column].finish(rows));
            }
            return vectors;
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    /** Gives back the columns of a batch that came to nothing. */
    public void abandon() {
        for (ValueColumn column : columns) {
            column.abandon();
        }
    }

    @Override
    public void close() {
        Closing.all(List.of(columns));
    }
}
