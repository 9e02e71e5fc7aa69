package dev.millrace.engine.calc;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.kernel.RowFailures;
import dev.millrace.expressions.user.PythonCall;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.RowByRow;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.vector.FieldVector;

/**
 * Calls functions over columns: the first ones of its input are passed on, those behind them are arguments, in whose place the results
 * come. A row that fails is noted and left out where the host keeps such; to find it, a batch is halved. Keeps no state.
 */
final class CallOperator implements Operator, RowByRow {
    /** A call: the columns of its arguments are next to each other. */
    record Made(String function, int firstArgument, int arguments) {}

    private final Schema given;
    private final Schema schema;
    private final int kept;
    private final List<Made> made;
    private volatile List<PythonCall> calls =
            List.of(); // written by the operator's thread, read also by who asks how far it is
    private OperatorContext context;
    private long rowsBefore;

    CallOperator(Schema given, Schema schema, int kept, List<Made> made) {
        this.given = given;
        this.schema = schema;
        this.kept = kept;
        this.made = List.copyOf(made);
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        calls = made.stream()
                .map(each -> new PythonCall(each.function(), context.allocator()))
                .toList();
    }

    /** Of its calls the average, as {@link CallingCalc} has it of steps. */
    @Override
    public long rowsDone() {
        long sum = 0;
        for (PythonCall call : calls) {
            sum += call.rowsDone();
        }
        return rowsBefore + sum / made.size();
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            if (batch.rowCount() > 0) {
                emit(batch, rowsBefore, output);
                rowsBefore += batch.rowCount();
                calls.forEach(PythonCall::begin);
            }
        }
    }

    private void emit(Batch batch, long before, Output output) {
        Batch result;
        try {
            result = called(batch, before);
        } catch (MillraceException failure) {
            if (!context.keepsFailedRows() || !RowFailures.isOfData(failure)) {
                throw failure;
            }
            emitApart(batch, failure, before, output);
            return;
        }
        output.emit(result);
    }

    private void emitApart(Batch batch, MillraceException failure, long before, Output output) {
        int rows = batch.rowCount();
        if (rows == 1) {
            context.failedRow(failure, batch.weights().isPresent() ? Memory.getLong(batch.weightsAddress()) : 1);
            return;
        }
        for (int half = 0; half < 2; half++) {
            int from = half * (rows / 2);
            try (Batch part = Gather.rows(batch, given, from, half == 0 ? rows / 2 : rows, context.allocator())) {
                emit(part, before + from, output);
            }
        }
    }

    private Batch called(Batch batch, long before) {
        List<AutoCloseable> owned = new ArrayList<>();
        boolean done = false;
        try {
            FieldVector[] columns = new FieldVector[schema.size()];
            for (int i = 0; i < kept; i++) {
                columns[i] = batch.column(i);
            }
            for (int i = 0; i < calls.size(); i++) {
                columns[kept + i] = result(calls.get(i), made.get(i), batch, before);
                owned.add(columns[kept + i]);
            }
            owned.add(batch.retain());
            done = true;
            return Batch.view(schema, columns, batch.rowCount(), batch.weights(), owned);
        } finally {
            if (!done) {
                Closing.all(owned);
            }
        }
    }

    private FieldVector result(PythonCall call, Made of, Batch batch, long before) {
        List<FieldVector> arguments = new ArrayList<>();
        for (int i = 0; i < of.arguments(); i++) {
            arguments.add(batch.column(of.firstArgument() + i));
        }
        try {
            return call.call(arguments, batch.rowCount());
        } catch (MillraceException failure) {
            int row = call.failedRow();
            boolean named = row >= 0 && (!context.keepsFailedRows() || context.failsForGood());
            throw named ? failure.in("row " + (before + row + 1)) : failure;
        }
    }

    @Override
    public void close() {
        Closing.all(calls);
        calls = List.of();
    }
}
