package dev.millrace.engine.calc;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.state.Scratch;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.code.CalcProgram;
import dev.millrace.expressions.code.CodeSize;
import dev.millrace.expressions.constant.ConstantFolder;
import dev.millrace.expressions.kernel.CalcKernel;
import dev.millrace.expressions.kernel.OutputColumn;
import dev.millrace.expressions.kernel.RowFailures;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.RowByRow;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/**
 * Filters rows and computes projections over those that pass. A batch in which no row passes emits nothing; where all
 * pass, columns that are passed through are shared with the input, not copied. Keeps no state.
 */
public final class CalcOperator implements Operator, RowByRow {
    private static final int FIRST_BYTES_PER_TEXT = 16;
    private static final int[] NOTHING = {};

    private final Schema schema;
    private final Schema inputSchema;
    private final boolean filters;
    private final boolean oneRow; // at most, of which no relation has a number
    private final int[] sources; // per output column: the input column it passes on, or -1 - index of the computed one
    private final CalcProgram program;
    private final Field[] computed;
    private final CalcKernel[] kernels = new CalcKernel[2]; // without and with NULLs, made when first needed
    private final long[] bytesPerText; // per computed column: the average of its last batch, and some more
    private OperatorContext context;
    private int[] selected = NOTHING; // only while a batch is computed
    private long rowsBefore;

    public CalcOperator(PlanNode.Calc node) {
        this(node, CodeSize.USUAL);
    }

    CalcOperator(PlanNode.Calc node, CodeSize size) {
        this.schema = node.schema();
        this.inputSchema = node.input().schema();
        this.filters = node.condition().isPresent();
        this.oneRow = isOneRow(node.input());
        this.sources = new int[node.projections().size()];
        List<Expression> expressions = new ArrayList<>();
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < sources.length; i++) {
            Expression expression = node.projections().get(i);
            if (expression instanceof Column column) {
                sources[i] = column.index();
            } else {
                sources[i] = -1 - expressions.size();
                expressions.add(expression);
                fields.add(schema.field(i));
            }
        }
        this.computed = fields.toArray(new Field[0]);
        this.bytesPerText = new long[computed.length];
        Arrays.fill(bytesPerText, FIRST_BYTES_PER_TEXT);
        this.program = new CalcProgram(
                node.input().schema(),
                node.condition().map(ConstantFolder::fold),
                expressions.stream().map(ConstantFolder::fold).toList(),
                size);
    }

    /** The source that runs for batches without NULLs, for {@code EXPLAIN (CODE)}; empty when columns are just chosen. */
    public static String codeOf(PlanNode.Calc node) {
        CalcProgram program = new CalcOperator(node).program;
        return program.isEmpty() ? "" : program.source(false);
    }

    /** Whether the rows are one at most, which nobody would look for: that of a SELECT without FROM, or what many rows come to. */
    private static boolean isOneRow(PlanNode node) {
        if (node instanceof PlanNode.Calc calc) {
            return isOneRow(calc.input());
        } else if (node instanceof PlanNode.Exchange exchange) {
            return isOneRow(exchange.input());
        } else if (node instanceof PlanNode.Join join) {
            return isOneRow(join.left()) && isOneRow(join.right());
        } else if (node instanceof PlanNode.Aggregate aggregate) {
            return aggregate.keys().isEmpty();
        }
        return node instanceof PlanNode.Values values
                && values.rows().size() == 1
                && values.schema().size() == 0;
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        if (!program.isEmpty()) {
            kernel(false); // so that what is wrong with a constant is said before the first row
        }
    }

    private CalcKernel kernel(boolean nulls) {
        int index = nulls ? 1 : 0;
        if (kernels[index] == null) {
            kernels[index] = program.instantiate(nulls, context.allocator());
        }
        return kernels[index];
    }

    @Override
    public long rowsDone() {
        long before = rowsBefore;
        int row = 0;
        for (CalcKernel kernel : kernels) {
            row = Math.max(row, kernel == null ? 0 : kernel.row());
        }
        return before + row;
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            int rows = batch.rowCount();
            if (rows > 0) {
                emit(batch, rowsBefore, output);
                rowsBefore += rows;
            }
        }
    }

    /** Emits what the rows give: where one fails and its failure is kept, what the others give. */
    private void emit(Batch batch, long before, Output output) {
        Optional<Batch> result;
        try {
            result = compute(batch);
        } catch (CalcKernel.RowFailure failure) {
            if (!(failure.failure() instanceof MillraceException told)) {
                throw failure.failure();
            }
            if (!context.keepsFailedRows() || !RowFailures.isOfData(told)) {
                throw inRow(told, before + failure.row() + 1);
            }
            emitApart(batch, told, before, output);
            return;
        }
        result.ifPresent(output::emit);
    }

    private MillraceException inRow(MillraceException failure, long row) {
        return row == 1 && (oneRow || program.hasConstantCalls()) ? failure : failure.in("row " + row);
    }

    /** By halves, so that a row that fails costs its neighbours a few more steps and not one each. */
    private void emitApart(Batch batch, MillraceException failure, long before, Output output) {
        int rows = batch.rowCount();
        if (rows == 1) {
            MillraceException why = context.failsForGood() ? inRow(failure, before + 1) : failure;
            context.failedRow(why, batch.weights().isPresent() ? Memory.getLong(batch.weightsAddress()) : 1);
            return;
        }
        for (int half = 0; half < 2; half++) {
            try (Batch part = Gather.rows(
                    batch, inputSchema, half * (rows / 2), half == 0 ? rows / 2 : rows, context.allocator())) {
                emit(part, before + half * (rows / 2), output);
            }
        }
    }

    private Optional<Batch> compute(Batch batch) {
        int rows = batch.rowCount();
        if (program.isEmpty()) {
            return Optional.of(output(batch, rows, List.of()));
        }
        CalcKernel kernel = kernel(program.hasNulls(batch));
        kernel.begin(rows, context.clock().epochMicros());
        if (!filters) {
            return compute(batch, kernel, rows);
        }
        selected = Scratch.ints(rows);
        try {
            int passed = kernel.select(batch, selected);
            return passed == 0 ? Optional.empty() : compute(batch, kernel, passed);
        } finally {
            Scratch.free(selected);
            selected = NOTHING;
        }
    }

    private Optional<Batch> compute(Batch batch, CalcKernel kernel, int passed) {
        List<OutputColumn> columns = new ArrayList<>(computed.length);
        try {
            for (int i = 0; i < computed.length; i++) {
                long bytes = computed[i].type().fixedWidth() >= 0 ? 0 : bytesPerText[i] * passed;
                columns.add(new OutputColumn(computed[i], passed, bytes, context.allocator()));
            }
            if (computed.length > 0) {
                kernel.project(batch, selected, passed, columns.toArray(new OutputColumn[0]));
            }
            return Optional.of(output(batch, passed, columns));
        } finally {
            Closing.all(columns); // those that were not passed on
        }
    }

    private Batch output(Batch batch, int passed, List<OutputColumn> columns) {
        boolean all = passed == batch.rowCount();
        List<AutoCloseable> owned = new ArrayList<>();
        boolean done = false;
        try {
            boolean shares = all && batch.weights().isPresent();
            FieldVector[] vectors = new FieldVector[sources.length];
            for (int i = 0; i < sources.length; i++) {
                if (sources[i] < 0) {
                    int index = -1 - sources[i];
                    vectors[i] = columns.get(index).finish(passed);
                    long bytes = columns.get(index).textBytes(passed);
                    bytesPerText[index] = bytes / passed + bytes / passed / 8 + 2;
                    owned.add(vectors[i]);
                } else if (all) {
                    vectors[i] = batch.column(sources[i]);
                    shares = true;
                } else {
                    vectors[i] =
                            Gather.column(batch, sources[i], schema.field(i), selected, passed, context.allocator());
                    owned.add(vectors[i]);
                }
            }
            Optional<BigIntVector> weights = batch.weights();
            if (!all && weights.isPresent()) {
                weights = Optional.of(Gather.weights(batch, selected, passed, context.allocator()));
                owned.add(weights.get());
            }
            if (shares) {
                owned.add(batch.retain());
            }
            done = true;
            return Batch.view(schema, vectors, passed, weights, owned);
        } finally {
            if (!done) {
                Closing.all(owned);
            }
        }
    }

    @Override
    public void close() {
        for (int i = 0; i < kernels.length; i++) {
            if (kernels[i] != null) {
                kernels[i].close();
                kernels[i] = null;
            }
        }
    }
}
