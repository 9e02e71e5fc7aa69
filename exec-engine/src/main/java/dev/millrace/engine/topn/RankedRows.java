package dev.millrace.engine.topn;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.WeightedRows;
import dev.millrace.memory.Memory;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Rows with their rank behind them, eight bytes, as lists of a {@link RowTable} and as batches. */
final class RankedRows {
    private final RowCodec codec;
    private final boolean emitRank;
    private final Schema schema;
    private final BufferAllocator allocator;

    RankedRows(RowCodec codec, boolean emitRank, Schema schema, BufferAllocator allocator) {
        this.codec = codec;
        this.emitRank = emitRank;
        this.schema = schema;
        this.allocator = allocator;
    }

    /** Bytes that a row needs at {@code scratch} with its rank. */
    int bytes(int rowBytes) {
        return rowBytes + Long.BYTES;
    }

    /** Copies a row and its rank. A rank that is not emitted is no difference between rows. */
    void write(long row, int rowBytes, long rank, long scratch) {
        Memory.copy(row, scratch, rowBytes);
        Memory.putLong(scratch + rowBytes, emitRank ? rank : 0);
    }

    /** Rows of a list as a batch with their weights. */
    Batch batch(long[] rows, int count) {
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (int column = 0; column < codec.columnCount(); column++) {
                vectors.add(codec.decode(column, schema.field(column), rows, count, allocator));
            }
            if (emitRank) {
                FieldVector ranks = Vectors.allocate(schema.field(codec.columnCount()), count, 0, allocator);
                vectors.add(ranks);
                for (int i = 0; i < count; i++) {
                    Memory.putLong(
                            ranks.getDataBufferAddress() + 8L * i,
                            Memory.getLong(rows[i] + RowTable.length(rows[i]) - Long.BYTES));
                }
                Vectors.setAllValid(ranks, count);
                Vectors.finish(ranks, count);
            }
            long[] weights = new long[count];
            for (int i = 0; i < count; i++) {
                weights[i] = RowTable.weight(rows[i]);
            }
            return WeightedRows.batch(schema, vectors.toArray(FieldVector[]::new), count, weights, 0, allocator);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }
}
