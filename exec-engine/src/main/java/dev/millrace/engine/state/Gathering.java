package dev.millrace.engine.state;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Memory;
import dev.millrace.batch.Vectors;
import dev.millrace.type.Field;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/** Copies chosen rows of batches. */
public final class Gathering {
    private Gathering() {}

    /** The rows {@code selected[0..count)} of a column; a row may be chosen several times. */
    public static FieldVector column(
            Batch batch, int column, Field field, int[] selected, int count, BufferAllocator allocator) {
        FieldVector from = batch.column(column);
        if (from instanceof ListVector || from instanceof StructVector) {
            return nested(from, field, selected, count, allocator);
        }
        RowCodec codec = new RowCodec(List.of(field.type()), false, allocator);
        try (codec) {
            codec.encode(batch, new int[] {column}, selected, count);
            long[] rows = new long[count];
            for (int i = 0; i < count; i++) {
                rows[i] = codec.address(i);
            }
            return codec.decode(0, field, rows, count, allocator);
        }
    }

    private static FieldVector nested(
            FieldVector from, Field field, int[] selected, int count, BufferAllocator allocator) {
        FieldVector to = Vectors.allocate(field, count, 0, allocator);
        for (int i = 0; i < count; i++) {
            to.copyFromSafe(selected[i], i, from);
        }
        to.setValueCount(count);
        return to;
    }

    /** The weights of chosen rows of a batch that has them. */
    public static BigIntVector weights(Batch batch, int[] selected, int count, BufferAllocator allocator) {
        BigIntVector weights = Vectors.allocateWeights(count, allocator);
        for (int i = 0; i < count; i++) {
            Memory.putLong(
                    weights.getDataBufferAddress() + 8L * i, Memory.getLong(batch.weightsAddress() + 8L * selected[i]));
        }
        Vectors.finish(weights, count);
        return weights;
    }
}
