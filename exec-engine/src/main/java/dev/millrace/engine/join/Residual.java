package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.code.CalcKernel;
import dev.millrace.engine.code.CalcProgram;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.Expression;
import dev.millrace.time.Clock;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** A join's further condition, evaluated over many pairs of rows at once. */
final class Residual implements AutoCloseable {
    private final int leftColumns;
    private final List<Integer> columns; // that the condition reads, of left columns, then right columns
    private final Schema schema; // of those
    private final CalcProgram program;
    private final List<Optional<CalcKernel>> kernels = new ArrayList<>(List.of(Optional.empty(), Optional.empty()));
    private final BufferAllocator allocator;
    private final Clock clock;
    private long evaluated;
    private int[] selected = new int[0];

    Residual(Expression condition, Schema left, Schema right, Clock clock, BufferAllocator allocator) {
        UsedColumns used = new UsedColumns(condition);
        this.leftColumns = left.size();
        this.columns = used.columns();
        this.schema = left.concat(right).select(columns);
        this.program = new CalcProgram(schema, Optional.of(used.over()), List.of());
        this.allocator = allocator;
        this.clock = clock;
    }

    /** Where the columns of the pairs of one side come from. */
    interface Source {
        FieldVector column(int column, Field field);
    }

    /** Selects the pairs that pass; returns how many, their positions are in {@link #selected}. */
    int select(RowCodec left, long[] lefts, RowCodec right, long[] rights, int count) {
        return select(
                (column, field) -> left.decode(column, field, lefts, count, allocator),
                (column, field) -> right.decode(column, field, rights, count, allocator),
                count);
    }

    /** Selects the pairs that pass; returns how many, their positions are in {@link #selected}. */
    int select(Source left, Source right, int count) {
        Interrupt.checkCurrent(); // pairs that do not meet are many, and nothing comes of them
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (int column : columns) {
                boolean isLeft = column < leftColumns;
                int of = isLeft ? column : column - leftColumns;
                vectors.add((isLeft ? left : right).column(of, schema.field(vectors.size())));
            }
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
        try (Batch pairs = Batch.of(schema, vectors.toArray(FieldVector[]::new), count)) {
            if (selected.length < count) {
                selected = new int[count];
            }
            CalcKernel kernel = kernel(program.hasNulls(pairs));
            evaluated += count;
            kernel.begin(count, clock.epochMicros());
            return kernel.select(pairs, selected);
        } catch (CalcKernel.RowFailure failure) {
            throw failure.failure();
        }
    }

    private CalcKernel kernel(boolean nulls) {
        int variant = nulls ? 1 : 0;
        if (kernels.get(variant).isEmpty()) {
            kernels.set(variant, Optional.of(program.instantiate(nulls, allocator)));
        }
        return kernels.get(variant).get();
    }

    /** For how many pairs so far. */
    long evaluated() {
        return evaluated;
    }

    int[] selected() {
        return selected;
    }

    @Override
    public void close() {
        List<CalcKernel> all = kernels.stream().flatMap(Optional::stream).toList();
        kernels.replaceAll(kernel -> Optional.empty());
        Closing.all(all);
    }
}
