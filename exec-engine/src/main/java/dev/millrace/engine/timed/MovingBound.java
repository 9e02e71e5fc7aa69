package dev.millrace.engine.timed;

import dev.millrace.batch.Batch;
import dev.millrace.expressions.code.CalcProgram;
import dev.millrace.expressions.kernel.CalcKernel;
import dev.millrace.expressions.kernel.OutputColumn;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.Expression;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** An expression of the clock that never falls, as a number. One thread. */
final class MovingBound implements AutoCloseable {
    private static final Schema NO_COLUMNS = new Schema(List.of());

    /** As far ahead as is looked: a century. */
    private static final long FAR_MICROS = 100L * 366 * 86_400_000_000L;

    private final Field field;
    private final CalcKernel kernel;
    private final BufferAllocator allocator;

    MovingBound(Expression bound, BufferAllocator allocator) {
        this.field = new Field("bound", bound.type(), true);
        this.allocator = allocator;
        this.kernel = new CalcProgram(NO_COLUMNS, Optional.empty(), List.of(bound)).instantiate(false, allocator);
    }

    /** The bound at a time of the clock; below all times if it is NULL. */
    long at(long nowMicros) {
        try (Batch row = Batch.of(NO_COLUMNS, new FieldVector[0], 1);
                OutputColumn column = new OutputColumn(field, 1, 0, allocator)) {
            kernel.begin(1, nowMicros);
            kernel.project(row, new int[] {0}, 1, new OutputColumn[] {column});
            try (FieldVector vector = column.finish(1)) {
                return vector.isNull(0) ? Long.MIN_VALUE : Memory.getLong(vector.getDataBufferAddress());
            }
        } catch (CalcKernel.RowFailure failure) {
            throw failure.failure();
        }
    }

    /** The first time of the clock, from {@code nowMicros} on, at which the bound is at least this; none in a century: MAX. */
    long firstAtLeast(long bound, long nowMicros) {
        long distance = bound - at(nowMicros);
        if (distance <= 0) {
            return nowMicros;
        }
        long guess = nowMicros + distance; // right where the bound is now() and a constant
        if (distance < FAR_MICROS && at(guess) >= bound && at(guess - 1) < bound) {
            return guess;
        }
        long before = nowMicros;
        long after = nowMicros + FAR_MICROS;
        if (at(after) < bound) {
            return Long.MAX_VALUE;
        }
        while (after - before > 1) {
            long middle = before + (after - before) / 2;
            if (at(middle) >= bound) {
                after = middle;
            } else {
                before = middle;
            }
        }
        return after;
    }

    @Override
    public void close() {
        kernel.close();
    }
}
