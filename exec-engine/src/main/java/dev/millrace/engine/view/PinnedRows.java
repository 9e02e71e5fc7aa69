package dev.millrace.engine.view;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.WeightedRows;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToIntFunction;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Some columns of rows of a view as of a version that is pinned, a batch at a time. For one thread at a time. */
final class PinnedRows implements AutoCloseable {
    private final List<Integer> columns;
    private final Schema schema;
    private final RowCodec codec;
    private final Pins.Pin pin;

    /** @param codec of the view's rows, which is this one's to close; the pin is not */
    PinnedRows(Schema whole, List<Integer> columns, RowCodec codec, Pins.Pin pin) {
        this.columns = columns;
        this.schema = whole.select(columns);
        this.codec = codec;
        this.pin = pin;
    }

    RowCodec codec() {
        return codec;
    }

    Pins.Pin pin() {
        return pin;
    }

    /**
     * Decodes rows, with weights where one occurs more than once, in memory of the caller, who closes them; empty for none.
     *
     * @param rows where there is room for their addresses
     * @param collect puts them there, and returns how many; they stay until this returns
     * @throws MillraceException 72000 if the version had to be given up for the memory that it cost
     */
    Optional<Batch> decode(long[] rows, ToIntFunction<long[]> collect, BufferAllocator target) {
        begin();
        try {
            int count = collect.applyAsInt(rows);
            return count == 0 ? Optional.empty() : Optional.of(decode(rows, count, target));
        } finally {
            pin.rest();
        }
    }

    /** The columns of rows that stay where they are, with their weights where one is not 1. */
    private Batch decode(long[] rows, int count, BufferAllocator target) {
        List<FieldVector> vectors = new ArrayList<>();
        try {
            long[] weights = new long[count];
            for (int i = 0; i < count; i++) {
                weights[i] = RowVersions.weight(rows[i]);
            }
            for (int i = 0; i < columns.size(); i++) {
                vectors.add(codec.decode(columns.get(i), schema.field(i), rows, count, target));
            }
            return WeightedRows.batch(schema, vectors.toArray(FieldVector[]::new), count, weights, 0, target);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    /** Looks at as many rows as were found. */
    @FunctionalInterface
    interface Look {
        void at(int count) throws IOException;
    }

    /** The same for who looks at the rows where they lie; returns how many there were. */
    int read(long[] rows, ToIntFunction<long[]> collect, Look look) throws IOException {
        begin();
        try {
            int count = collect.applyAsInt(rows);
            look.at(count);
            return count;
        } finally {
            pin.rest();
        }
    }

    private void begin() {
        if (!pin.read()) {
            throw MillraceException.resources(
                            SqlState.SNAPSHOT_TOO_OLD,
                            "what was read changed so much meanwhile that its old rows are no longer kept")
                    .withHint("read the result faster, or fewer rows, and try again");
        }
    }

    @Override
    public void close() {
        codec.close();
    }
}
