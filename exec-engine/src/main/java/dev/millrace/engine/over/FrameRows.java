package dev.millrace.engine.over;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.TreeSet;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/** Gives rows of a partition to aggregates as batches of the columns that these read. */
final class FrameRows {
    private final List<Integer> columns;
    private final Schema schema;
    private final OrderedRows rows;
    private final BufferAllocator allocator;

    /** @param input of the node */
    FrameRows(List<AggregateCall> calls, Schema input, OrderedRows rows, BufferAllocator allocator) {
        TreeSet<Integer> read = new TreeSet<>();
        for (AggregateCall call : calls) {
            read.addAll(call.arguments());
            call.filter().ifPresent(read::add);
        }
        this.columns = List.copyOf(read);
        this.schema = input.select(columns);
        this.rows = rows;
        this.allocator = allocator;
    }

    Schema schema() {
        return schema;
    }

    /** A call over the columns of the batches. */
    AggregateCall over(AggregateCall call) {
        return new AggregateCall(
                call.function(),
                call.arguments().stream().map(columns::indexOf).toList(),
                call.distinct(),
                call.filter().isPresent()
                        ? OptionalInt.of(columns.indexOf(call.filter().getAsInt()))
                        : OptionalInt.empty(),
                call.ordering(),
                call.parameters(),
                call.type());
    }

    /**
     * A batch of rows.
     *
     * @param signs 1 of a row that comes, -1 of one that goes
     */
    Batch batch(long[] addresses, byte[] signs, int count) {
        boolean goes = false;
        for (int i = 0; i < count; i++) {
            goes |= signs[i] < 0;
        }
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (int i = 0; i < columns.size(); i++) {
                Field field = schema.field(i);
                vectors.add(rows.codec().decode(columns.get(i), field, addresses, count, allocator));
            }
            FieldVector[] array = vectors.toArray(FieldVector[]::new);
            if (!goes) {
                return Batch.of(schema, array, count);
            }
            BigIntVector weights = Vectors.allocateWeights(count, allocator);
            for (int i = 0; i < count; i++) {
                Memory.putLong(weights.getDataBufferAddress() + 8L * i, signs[i]);
            }
            Vectors.finish(weights, count);
            return Batch.weighted(schema, array, count, weights);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }
}
