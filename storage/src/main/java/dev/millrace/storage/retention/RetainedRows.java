package dev.millrace.storage.retention;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedCopy;
import dev.millrace.batch.Vectors;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.TimeStampVector;

/**
 * Rows of one entry that are in no segment yet. Their owner closes them.
 *
 * @param entry its number in the log
 * @param arrivalMicros when they were accepted
 * @param batch without weights
 */
record RetainedRows(long entry, long arrivalMicros, Batch batch) implements AutoCloseable {
    private static final Field ENTRY = new Field("#entry", DataType.BIGINT, false);
    private static final Field ARRIVAL = new Field("#arrival", DataType.TIMESTAMPTZ, false);

    private static final Field SERIES = new Field("#series", DataType.INTEGER, false);
    private static final Field SKETCH = new Field("#sketch", DataType.BYTEA, true);

    private static final int MOST_TOGETHER = 1024; // rows
    private static final int OBJECTS_BYTES = 256; // that a batch takes on the heap, and again for each column

    /** How much memory they take, about: of short rows most is the objects. */
    long bytes() {
        return batch.sizeInBytes() + OBJECTS_BYTES * (1L + batch.columnCount());
    }

    /** The columns of segments, of those of the stream. */
    static Schema kept(Schema stream) {
        return stream.concat(Schema.of(ENTRY, ARRIVAL));
    }

    /** The columns of files of another form than the exact one, of those of segments. */
    static Schema stored(Schema kept) {
        return kept.concat(Schema.of(SERIES, SKETCH));
    }

    /** The same rows for somebody else. */
    RetainedRows retain() {
        return new RetainedRows(entry, arrivalMicros, batch.retain());
    }

    /** Some columns of the rows as segments have them; the caller's. */
    Batch select(List<Integer> columns, Schema kept, BufferAllocator allocator) {
        FieldVector[] vectors = new FieldVector[columns.size()];
        List<AutoCloseable> owned = new ArrayList<>();
        owned.add(batch.retain());
        try {
            for (int i = 0; i < vectors.length; i++) {
                int column = columns.get(i);
                if (column < batch.columnCount()) {
                    vectors[i] = batch.column(column);
                } else {
                    boolean isEntry = column == batch.columnCount();
                    vectors[i] = constant(isEntry ? ENTRY : ARRIVAL, isEntry ? entry : arrivalMicros, allocator);
                    owned.add(vectors[i]);
                }
            }
            return Batch.view(kept.select(columns), vectors, batch.rowCount(), Optional.empty(), owned);
        } catch (RuntimeException | Error e) {
            Closing.all(owned);
            throw e;
        }
    }

    /** Where those end that are read at once with the one at a place: rows that came one by one are dear to read one by one. */
    static int endTogether(List<RetainedRows> all, int from) {
        int to = from + 1;
        for (long rows = all.get(from).batch.rowCount(); to < all.size(); to++) {
            rows += all.get(to).batch.rowCount();
            if (rows > MOST_TOGETHER) {
                break;
            }
        }
        return to;
    }

    /** The same as {@link #select(List, Schema, BufferAllocator)} of several, one behind the other. */
    static Batch select(List<RetainedRows> all, List<Integer> columns, Schema kept, BufferAllocator allocator) {
        if (all.size() == 1) {
            return all.get(0).select(columns, kept, allocator);
        }
        Schema schema = kept.select(columns);
        List<FieldVector> vectors = new ArrayList<>();
        try {
            schema.fields()
                    .forEach(field -> vectors.add(ArrowTypes.arrowField(field).createVector(allocator)));
            int rows = 0;
            for (RetainedRows each : all) {
                for (int i = 0; i < vectors.size(); i++) {
                    each.copy(columns.get(i), vectors.get(i), rows);
                }
                rows += each.batch.rowCount();
            }
            for (FieldVector vector : vectors) {
                vector.setValueCount(rows);
            }
            return Batch.of(schema, vectors.toArray(FieldVector[]::new), rows);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    private void copy(int column, FieldVector to, int at) {
        for (int row = 0; row < batch.rowCount(); row++) {
            if (column < batch.columnCount()) {
                NestedCopy.copy(batch.column(column), row, to, at + row);
            } else if (column == batch.columnCount()) {
                ((BigIntVector) to).setSafe(at + row, entry);
            } else {
                ((TimeStampVector) to).setSafe(at + row, arrivalMicros);
            }
        }
    }

    private FieldVector constant(Field field, long value, BufferAllocator allocator) {
        int rows = batch.rowCount();
        FieldVector vector = Vectors.allocate(field, rows, 0, allocator);
        long data = vector.getDataBufferAddress();
        for (int row = 0; row < rows; row++) {
            Memory.putLong(data + 8L * row, value);
        }
        Vectors.setAllValid(vector, rows);
        Vectors.finish(vector, rows);
        return vector;
    }

    @Override
    public void close() {
        batch.close();
    }
}
