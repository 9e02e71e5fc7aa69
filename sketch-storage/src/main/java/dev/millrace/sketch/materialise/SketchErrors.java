package dev.millrace.sketch.materialise;

import dev.millrace.batch.Vectors;
import dev.millrace.memory.Memory;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.type.Field;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** How far what a sketch shows may be off, as columns of the rows that it shows. Stateless. */
public final class SketchErrors {
    private SketchErrors() {}

    /**
     * How far any value of a feature may be off in this sketch, or any time: as rows show them.
     *
     * @param feature -1 for the time, of which it is in microseconds
     */
    public static double of(Sketch sketch, int feature) {
        if (feature < 0) {
            long perSecond = sketch.schema().ticksPerSecond();
            double ticks = sketch.timeErrorTicks();
            // Times of other ticks are rounded down, the true ones as well as those shown.
            return perSecond == SketchSchema.MICROS_PER_SECOND || ticks == 0
                    ? ticks
                    : Math.ceil(Math.nextUp(ticks * SketchSchema.MICROS_PER_SECOND / perSecond)) + 1;
        }
        if (!(sketch.column(feature).symbols() instanceof NumberSymbols numbers)) {
            return 0;
        }
        double error = numbers.error();
        return switch (sketch.schema().feature(feature).kind()) {
            case NUMBER -> error;
            case WHOLE, BOOLEAN -> Math.ceil(error);
            case TEXT -> 0;
        };
    }

    /** So many rows of one error; the caller's. @param field of {@code ErrorColumns} */
    public static FieldVector vector(Field field, double error, int rows, BufferAllocator allocator) {
        FieldVector vector = Vectors.allocate(field, rows, 0, allocator);
        long data = vector.getDataBufferAddress();
        for (int row = 0; row < rows; row++) {
            Memory.putDouble(data + 8L * row, error);
        }
        Vectors.setAllValid(vector, rows);
        Vectors.finish(vector, rows);
        return vector;
    }
}
