package dev.millrace.engine.join;

import dev.millrace.batch.Closing;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.WeightedRows;
import dev.millrace.operator.Output;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Joined rows on their way out: addresses of a row of each side, decoded a batch at a time. */
final class JoinOutput {
    private static final int FIRST_ROWS = 64; // most queries are small

    private final Schema schema;
    private final List<RowCodec> codecs;
    private final BufferAllocator allocator;
    private final long[][] rows; // by side
    private final int batchRows;
    private long[] weights;
    private int count;

    JoinOutput(
            Schema schema, RowCodec left, RowCodec right, boolean withRight, int batchRows, BufferAllocator allocator) {
        this(schema, withRight ? List.of(left, right) : List.of(left), batchRows, allocator);
    }

    JoinOutput(Schema schema, List<RowCodec> codecs, int batchRows, BufferAllocator allocator) {
        this.schema = schema;
        this.codecs = codecs;
        this.allocator = allocator;
        this.batchRows = batchRows;
        int first = Math.min(FIRST_ROWS, batchRows);
        this.rows = new long[codecs.size()][first];
        this.weights = new long[first];
    }

    /** Adds a row; the addresses must stay valid until the next {@link #flush}. */
    void add(long leftRow, long rightRow, long weight, Output output) {
        rows[0][count] = leftRow;
        if (rows.length > 1) {
            rows[1][count] = rightRow;
        }
        add(weight, output);
    }

    /** Adds a row that consists of a row of each side. */
    void add(long[] sides, long weight, Output output) {
        for (int side = 0; side < rows.length; side++) {
            rows[side][count] = sides[side];
        }
        add(weight, output);
    }

    private void add(long weight, Output output) {
        weights[count] = weight;
        if (++count == weights.length && !hasRoom()) {
            flush(output);
        }
    }

    private boolean hasRoom() {
        if (count == batchRows) {
            return false;
        }
        int more = Math.min(4 * count, batchRows);
        for (int side = 0; side < rows.length; side++) {
            rows[side] = Arrays.copyOf(rows[side], more);
        }
        weights = Arrays.copyOf(weights, more);
        return true;
    }

    /** Emits what there is. */
    void flush(Output output) {
        if (count == 0) {
            return;
        }
        int size = count;
        count = 0;
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (int side = 0; side < rows.length; side++) {
                decode(codecs.get(side), rows[side], size, vectors);
            }
            output.emit(WeightedRows.batch(schema, vectors.toArray(FieldVector[]::new), size, weights, 0, allocator));
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    private void decode(RowCodec codec, long[] addresses, int size, List<FieldVector> vectors) {
        for (int column = 0; column < codec.columnCount(); column++) {
            vectors.add(codec.decode(column, schema.field(vectors.size()), addresses, size, allocator));
        }
    }
}
