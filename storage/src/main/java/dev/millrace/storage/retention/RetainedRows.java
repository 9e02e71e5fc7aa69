package dev.millrace.storage.retention;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

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
