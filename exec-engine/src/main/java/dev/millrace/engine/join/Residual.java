package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.calc.Gather;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.code.CalcProgram;
import dev.millrace.expressions.kernel.CalcKernel;
import dev.millrace.expressions.kernel.RowFailures;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.operator.OperatorContext;
import dev.millrace.plan.expression.Expression;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/**
 * A join's further condition, evaluated over many pairs of rows at once. A pair for which it fails does not pass, and is noted with
 * its weight where the host keeps failures.
 */
final class Residual implements AutoCloseable {
    private final int leftColumns;
    private final List<Integer> columns; // that the condition reads, of left columns, then right columns
    private final Schema schema; // of those
    private final CalcProgram program;
    private final List<Optional<CalcKernel>> kernels = new ArrayList<>(List.of(Optional.empty(), Optional.empty()));
    private final OperatorContext context;
    private long evaluated;
    private int[] selected = new int[0];

    Residual(Expression condition, Schema left, Schema right, OperatorContext context) {
        UsedColumns used = new UsedColumns(RangeCondition.first(condition, left.size()));
        this.leftColumns = left.size();
        this.columns = used.columns();
        this.schema = left.concat(right).select(columns);
        this.program = new CalcProgram(schema, Optional.of(used.over()), List.of());
        this.context = context;
    }

    /** The weights of pairs: the products of both rows'. */
    @FunctionalInterface
    interface Weights {
        long of(int pair);
    }

    /** Where the columns of the pairs of one side come from. */
    interface Source {
        FieldVector column(int column, Field field);
    }

    /** Selects the pairs that pass; returns how many, their positions are in {@link #selected}. */
    int select(RowCodec left, long[] lefts, RowCodec right, long[] rights, int count, Weights weights) {
        return select(
                (column, field) -> left.decode(column, field, lefts, count, context.allocator()),
                (column, field) -> right.decode(column, field, rights, count, context.allocator()),
                count,
                weights);
    }

    /** Selects the pairs that pass; returns how many, their positions are in {@link #selected}. */
    int select(Source left, Source right, int count, Weights weights) {
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
            evaluated += count;
            try {
                return select(pairs, selected);
            } catch (CalcKernel.RowFailure failure) {
                return selectApart(pairs, failure.failure(), 0, 0, weights);
            }
        }
    }

    private int select(Batch pairs, int[] into) {
        CalcKernel kernel = kernel(program.hasNulls(pairs));
        kernel.begin(pairs.rowCount(), context.clock().epochMicros());
        return kernel.select(pairs, into);
    }

    /**
     * By halves, so that a pair that fails costs its neighbours a few more steps and not one each.
     *
     * @param first position of these pairs among all
     * @param passed how many before them passed
     * @return how many passed up to the last of these
     */
    private int selectApart(Batch pairs, RuntimeException why, int first, int passed, Weights weights) {
        MillraceException told = RowFailures.kept(why, context);
        int rows = pairs.rowCount();
        if (rows == 1) {
            context.failedRow(told, weights.of(first));
            return passed;
        }
        Interrupt.checkCurrent();
        int count = passed;
        for (int half = 0; half < 2; half++) {
            int from = half * (rows / 2);
            int to = half == 0 ? rows / 2 : rows;
            try (Batch part = Gather.rows(pairs, schema, from, to, context.allocator())) {
                count = selectPart(part, first + from, count, weights);
            }
        }
        return count;
    }

    private int selectPart(Batch part, int first, int passed, Weights weights) {
        int[] chosen = new int[part.rowCount()];
        int some;
        try {
            some = select(part, chosen);
        } catch (CalcKernel.RowFailure failure) {
            return selectApart(part, failure.failure(), first, passed, weights);
        }
        for (int i = 0; i < some; i++) {
            selected[passed + i] = first + chosen[i];
        }
        return passed + some;
    }

    private CalcKernel kernel(boolean nulls) {
        int variant = nulls ? 1 : 0;
        if (kernels.get(variant).isEmpty()) {
            kernels.set(variant, Optional.of(program.instantiate(nulls, context.allocator())));
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
