package dev.millrace.batch;

import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;

/**
 * Rows as Arrow columns, optionally with a weight per row (a Z-set). Without weights every row counts +1; a weight of
 * -1 retracts one equal row; 0 does not occur.
 *
 * <p><b>Ownership.</b> A batch is created with one reference. Whoever is handed a batch owns that reference and closes
 * it or passes it on; {@link #retain()} makes another. The last close frees what the batch owns: its own vectors, and
 * references to other batches whose columns it shows ({@link #view}). Once a batch was passed on, nobody writes to its
 * vectors any more, so readers on any thread need no lock.
 */
public final class Batch implements AutoCloseable {
    private static final AtomicIntegerFieldUpdater<Batch> REFERENCES =
            AtomicIntegerFieldUpdater.newUpdater(Batch.class, "references");

    private static final long OBJECT_BYTES = 256; // of a vector and its buffers, about

    private final Schema schema;
    private final FieldVector[] columns;
    private final int rowCount;
    private final Optional<BigIntVector> weights;
    private final List<? extends AutoCloseable> owned;
    private final byte[] nullKnowledge; // per column: 0 unknown, 1 no NULLs, 2 some; a benign race fills it
    private volatile int references = 1; // written by whoever retains or closes, read by the same
    private long sizeInBytes = -1; // a benign race fills it

    private Batch(
            Schema schema,
            FieldVector[] columns,
            int rowCount,
            Optional<BigIntVector> weights,
            List<? extends AutoCloseable> owned) {
        assert columns.length == schema.size() : columns.length + " columns for " + schema;
        this.schema = schema;
        this.columns = columns;
        this.rowCount = rowCount;
        this.weights = weights;
        this.owned = owned;
        this.nullKnowledge = new byte[columns.length];
    }

    /** An append-only batch that owns its vectors, each with its value count set to {@code rowCount}. */
    public static Batch of(Schema schema, FieldVector[] columns, int rowCount) {
        return new Batch(schema, columns, rowCount, Optional.empty(), List.of(columns));
    }

    /** A weighted batch that owns its vectors. */
    public static Batch weighted(Schema schema, FieldVector[] columns, int rowCount, BigIntVector weights) {
        FieldVector[] all = java.util.Arrays.copyOf(columns, columns.length + 1);
        all[columns.length] = weights;
        return new Batch(schema, columns, rowCount, Optional.of(weights), List.of(all));
    }

    /**
     * A batch that shows columns it does not own by itself: the last close closes {@code owned}, which holds references
     * to the batches the columns belong to, and vectors of its own.
     */
    public static Batch view(
            Schema schema,
            FieldVector[] columns,
            int rowCount,
            Optional<BigIntVector> weights,
            List<? extends AutoCloseable> owned) {
        return new Batch(schema, columns, rowCount, weights, List.copyOf(owned));
    }

    public Schema schema() {
        return schema;
    }

    public int rowCount() {
        return rowCount;
    }

    public int columnCount() {
        return columns.length;
    }

    public FieldVector column(int index) {
        return columns[index];
    }

    /** One weight per row, never NULL; empty when all are +1. */
    public Optional<BigIntVector> weights() {
        return weights;
    }

    /** Address of the weights, 8 bytes per row, or 0 when all are +1. */
    public long weightsAddress() {
        return weights.isPresent() ? weights.get().getDataBufferAddress() : 0;
    }

    /** Address of a column's data; the offsets are at {@link #offsetsAddress}. Not for nested types. */
    public long dataAddress(int column) {
        return columns[column].getDataBufferAddress();
    }

    /** Address of a variable-width column's {@code rowCount + 1} 32-bit offsets. */
    public long offsetsAddress(int column) {
        return columns[column].getOffsetBufferAddress();
    }

    /** Address of a column's validity bitmap (bit set: not NULL), or 0 when the column has no NULL in this batch. */
    public long validityAddress(int column) {
        return hasNulls(column) ? columns[column].getValidityBufferAddress() : 0;
    }

    /** Whether any value of the column is NULL; counted once. */
    public boolean hasNulls(int column) {
        byte known = nullKnowledge[column];
        if (known == 0) {
            known = (byte) (columns[column].getNullCount() == 0 ? 1 : 2);
            nullKnowledge[column] = known;
        }
        return known == 2;
    }

    /**
     * Bytes of memory that the columns and weights hold, used or not, and about what their objects take on the heap; what
     * channels and limits count.
     */
    public long sizeInBytes() {
        if (sizeInBytes < 0) {
            long bytes = weights.isPresent() ? bytesHeld(weights.get()) : 0;
            for (FieldVector column : columns) {
                bytes += bytesHeld(column);
            }
            sizeInBytes = bytes;
        }
        return sizeInBytes;
    }

    private static long bytesHeld(FieldVector vector) {
        long bytes = OBJECT_BYTES + vector.getValidityBuffer().capacity();
        if (vector instanceof BaseFixedWidthVector) {
            return bytes + vector.getDataBuffer().capacity();
        }
        if (vector instanceof BaseVariableWidthVector) {
            return bytes
                    + vector.getOffsetBuffer().capacity()
                    + vector.getDataBuffer().capacity();
        }
        if (vector instanceof ListVector) {
            bytes += vector.getOffsetBuffer().capacity();
        }
        for (FieldVector child : vector.getChildrenFromFields()) {
            bytes += bytesHeld(child);
        }
        return bytes;
    }

    /** Another reference, for another owner. */
    public Batch retain() {
        int before = REFERENCES.getAndIncrement(this);
        assert before > 0 : "retained after the last close";
        return this;
    }

    /** Gives a reference back. */
    @Override
    public void close() {
        int left = REFERENCES.decrementAndGet(this);
        assert left >= 0 : "closed more often than retained";
        if (left == 0) {
            Closing.all(owned);
        }
    }

    @Override
    public String toString() {
        return rowCount + " rows of (" + schema + ")" + (weights.isPresent() ? " weighted" : "");
    }
}
