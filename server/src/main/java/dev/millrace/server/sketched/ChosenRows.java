package dev.millrace.server.sketched;

import dev.millrace.batch.Vectors;
import dev.millrace.memory.Memory;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.List;
import java.util.function.IntPredicate;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** A column that says which rows are among those of a materialisation. Stateless. */
final class ChosenRows {
    static final Field FIELD = new Field("#chosen", DataType.BOOLEAN, false);

    private ChosenRows() {}

    /** Of rows that are in no sketch: all are. The caller's. */
    static FieldVector all(int rows, BufferAllocator allocator) {
        return column(rows, row -> true, allocator);
    }

    /** Of rows of sketches, by the sketch of each and its place there. The caller's. */
    static FieldVector of(
            Materialisation chosen,
            List<SketchVectors> sketches,
            int[] sketchOf,
            int[] rowOf,
            int rows,
            BufferAllocator allocator) {
        return column(rows, row -> sketches.get(sketchOf[row]).chosen(chosen).get(rowOf[row]), allocator);
    }

    private static FieldVector column(int rows, IntPredicate isChosen, BufferAllocator allocator) {
        FieldVector vector = Vectors.allocate(FIELD, rows, 0, allocator);
        long data = vector.getDataBufferAddress();
        for (int from = 0; from < rows; from += Byte.SIZE) {
            int bits = 0;
            for (int row = from; row < Math.min(rows, from + Byte.SIZE); row++) {
                bits |= isChosen.test(row) ? 1 << row - from : 0;
            }
            Memory.putByte(data + from / Byte.SIZE, (byte) bits);
        }
        Vectors.setAllValid(vector, rows);
        Vectors.finish(vector, rows);
        return vector;
    }
}
