package dev.millrace.engine.match;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.expressions.code.CalcProgram;
import dev.millrace.expressions.constant.ConstantFolder;
import dev.millrace.expressions.kernel.CalcKernel;
import dev.millrace.plan.expression.Expression;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** A condition as generated code over columns of values. */
final class Predicate implements AutoCloseable {
    private final CalcProgram program;
    private final Clock clock;
    private final BufferAllocator allocator;
    private final List<Optional<CalcKernel>> kernels = new ArrayList<>(List.of(Optional.empty(), Optional.empty()));

    Predicate(Schema schema, Expression condition, Clock clock, BufferAllocator allocator) {
        this.program = new CalcProgram(schema, Optional.of(ConstantFolder.fold(condition)), List.of());
        this.clock = clock;
        this.allocator = allocator;
    }

    /** Writes the rows that pass to {@code selected} and returns how many; fails with {@link CalcKernel.RowFailure}. */
    int select(Batch batch, int[] selected) {
        CalcKernel kernel = kernel(program.hasNulls(batch) ? 1 : 0);
        kernel.begin(batch.rowCount(), clock.epochMicros());
        return kernel.select(batch, selected);
    }

    private CalcKernel kernel(int variant) {
        if (kernels.get(variant).isEmpty()) {
            kernels.set(variant, Optional.of(program.instantiate(variant == 1, allocator)));
        }
        return kernels.get(variant).get();
    }

    @Override
    public void close() {
        List<CalcKernel> all = kernels.stream().flatMap(Optional::stream).toList();
        kernels.replaceAll(kernel -> Optional.empty());
        Closing.all(all);
    }
}
