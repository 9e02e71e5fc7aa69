package dev.millrace.connectors.json;

import dev.millrace.connectors.filter.ColumnTest;
import dev.millrace.connectors.filter.RowFilter;
import dev.millrace.error.MillraceException;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * The columns of a batch under way, made of one JSON object for each row. All columns of the relation are read of every record, so that
 * which records are rejected does not depend on which are kept. Not thread-safe.
 */
final class JsonColumns implements AutoCloseable {
    private final List<Integer> requested;
    private final RowFilter filter;
    private final JsonValues[] values;
    private final QuickRecord quick;
    private final CarefulRecord careful;

    /** Told of a record that is none. */
    interface Rejection {
        void reject(String column, MillraceException reason);
    }

    /**
     * @param requested columns that are kept, in the order in which {@link #finish} gives them
     * @param filter rows that do not pass it are left out
     */
    JsonColumns(List<JsonColumn> columns, List<Integer> requested, RowFilter filter, BufferAllocator allocator) {
        this.requested = requested;
        this.filter = filter;
        List<JsonValues> all = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            boolean kept = requested.contains(i) || filter.tests(i);
            all.add(new JsonValues(columns.get(i), kept, allocator));
        }
        this.values = all.toArray(JsonValues[]::new);
        Members members = Members.of(columns);
        this.quick = new QuickRecord(all, members, allocator);
        this.careful = new CarefulRecord(all, members);
    }

    /** The relation's columns, as they are declared. */
    static Schema relation(List<JsonColumn> columns) {
        return new Schema(columns.stream().map(JsonColumn::field).toList());
    }

    /** Starts a batch of up to so many rows. */
    void begin(int rows) {
        for (JsonValues value : values) {
            value.begin(rows);
        }
    }

    /**
     * Reads a record as a row, which is there if this returns true; else the next is read into the same row. Eight bytes behind the record can
     * be read.
     *
     * @param rejection asked at most once; then this returns false
     */
    boolean read(long address, int length, int row, Rejection rejection) {
        if (!quick.read(address, length, row)) {
            drop(row);
            try {
                careful.read(address, length, row);
            } catch (MillraceException e) {
                drop(row);
                rejection.reject(careful.failedColumn(), e);
                return false;
            }
        }
        for (JsonValues value : values) {
            if (value.isMissing(row)) {
                drop(row);
                rejection.reject(value.name(), value.missing());
                return false;
            }
        }
        if (!filter.isEmpty() && !passes(row)) {
            drop(row);
            return false;
        }
        for (JsonValues value : values) {
            value.keep(row);
        }
        return true;
    }

    private boolean passes(int row) {
        for (ColumnTest test : filter.tests()) {
            if (!values[test.column()].passes(test, row)) {
                return false;
            }
        }
        return true;
    }

    private void drop(int row) {
        for (JsonValues value : values) {
            value.drop(row);
        }
    }

    /** The finished columns, which the caller owns; the next batch is to begin. */
    FieldVector[] finish(int rows) {
        FieldVector[] vectors = new FieldVector[requested.size()];
        int done = 0;
        try {
            for (; done < vectors.length; done++) {
                vectors[done] = values[requested.get(done)].finish(rows);
            }
        } catch (RuntimeException | Error e) {
            for (int i = 0; i < done; i++) {
                vectors[i].close();
            }
            throw e;
        } finally {
            abandon(); // of columns that were only tested
        }
        return vectors;
    }

    /** Gives back the columns of a batch that came to nothing. */
    void abandon() {
        for (JsonValues value : values) {
            value.abandon();
        }
    }

    @Override
    public void close() {
        for (JsonValues value : values) {
            value.close();
        }
        quick.close();
    }
}
