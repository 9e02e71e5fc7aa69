package dev.millrace.engine.expand;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedCodec;
import dev.millrace.engine.rows.RowBuffer;
import dev.millrace.engine.rows.RowsFunction;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.kernel.RowFailures;
import dev.millrace.expressions.user.UserCode;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.plan.node.PlanNode.Expand;
import dev.millrace.plan.node.PlanNode.TableCall;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/**
 * Puts beside each row the rows that table functions make of it. Output is cut into batches also within a row, so a long
 * series costs no more memory than a short one. Keeps no state.
 */
public final class ExpandOperator implements Operator {
    private final Expand node;
    private final List<RowsFunction> functions = new ArrayList<>();
    private OperatorContext context;
    private long rowsBefore;
    // of the batch under way
    private int[] rows = new int[0];
    private int count;
    private int firstOfRow; // that is under way: where those made of it begin
    private boolean isPartEmitted; // and others were emitted
    private FieldVector[] made = new FieldVector[0];

    public ExpandOperator(Expand node) {
        this.node = node;
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        rows = new int[context.batchRows()];
        for (TableCall call : node.calls()) {
            RowsFunction function = function(call);
            functions.add(function);
            function.open(context);
        }
    }

    private RowsFunction function(TableCall call) {
        return switch (call.function()) {
            case "unnest" -> new Unnest(call.arguments().get(0));
            case "_pg_expandarray" -> new NumberedElements(call.arguments().get(0));
            case "generate_series" ->
                new Series(call.arguments(), call.outputs().get(0).type());
            default -> {
                if (!call.function().startsWith(UserCode.PREFIX)) {
                    throw new IllegalArgumentException("no table function " + call.function());
                }
                yield new UserRows(call, node.input().schema());
            }
        };
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        int row = 0;
        try (batch) {
            begin();
            for (; row < batch.rowCount(); row++) {
                expandOrNote(batch, row, output);
            }
            rowsBefore += batch.rowCount();
            flush(batch, output);
        } catch (MillraceException e) {
            throw e.in("row " + (rowsBefore + row + 1));
        } finally {
            abandon();
        }
    }

    private void begin() {
        count = 0;
        List<Field> fields =
                node.schema().fields().subList(node.kept().size(), node.schema().size());
        made = new FieldVector[fields.size()];
        for (int i = 0; i < made.length; i++) {
            made[i] = ArrowTypes.arrowField(fields.get(i)).createVector(context.allocator());
            made[i].setInitialCapacity(rows.length);
            made[i].allocateNew();
        }
    }

    /** A row that fails gives no rows; one that fails when some of its rows are on their way ends the query. */
    private void expandOrNote(Batch batch, int row, Output output) {
        firstOfRow = count;
        isPartEmitted = false;
        try {
            expand(batch, row, output);
        } catch (RuntimeException failure) {
            MillraceException why = RowFailures.kept(failure, context);
            if (isPartEmitted) {
                throw why;
            }
            count = firstOfRow;
            context.failedRow(why, batch.weights().isPresent() ? Memory.getLong(batch.weightsAddress() + 8L * row) : 1);
        }
    }

    private void expand(Batch batch, int row, Output output) {
        for (RowsFunction function : functions) {
            function.begin(batch, row);
        }
        long number = 0;
        boolean emitted = false;
        while (true) {
            if (count == rows.length) {
                isPartEmitted |= count > firstOfRow;
                firstOfRow = 0;
                flush(batch, output);
                begin();
            }
            int most = rows.length - count;
            int rowsMade = step(most);
            if (rowsMade == 0 && !emitted && node.outer()) {
                nothing();
                rows[count++] = row;
                return;
            }
            for (int i = 0; i < rowsMade; i++) {
                rows[count + i] = row;
                if (node.ordinality()) {
                    ((BigIntVector) made[made.length - 1]).setSafe(count + i, ++number);
                }
            }
            emitted |= rowsMade > 0;
            count += rowsMade;
            if (rowsMade < most) {
                return;
            }
        }
    }

    /** Takes the next rows of all functions; those with fewer are filled up with NULLs. */
    private int step(int most) {
        int[] given = new int[functions.size()];
        int longest = 0;
        int column = 0;
        for (int i = 0; i < given.length; i++) {
            int width = node.calls().get(i).outputs().size();
            FieldVector[] out = Arrays.copyOfRange(made, column, column + width);
            given[i] = functions.get(i).next(out, count, most);
            longest = Math.max(longest, given[i]);
            column += width;
        }
        column = 0;
        for (int i = 0; i < given.length; i++) {
            int width = node.calls().get(i).outputs().size();
            for (int field = 0; field < width; field++) {
                for (int at = given[i]; at < longest; at++) {
                    NestedCodec.setNull(made[column + field], count + at);
                }
            }
            column += width;
        }
        return longest;
    }

    private void nothing() {
        for (FieldVector vector : made) {
            NestedCodec.setNull(vector, count);
        }
    }

    private void flush(Batch batch, Output output) {
        if (count == 0) {
            return;
        }
        List<AutoCloseable> owned = new ArrayList<>();
        boolean done = false;
        try (RowBuffer buffer = new RowBuffer(batch.schema().select(node.kept()), count, context.allocator());
                Batch source = keptColumns(batch)) {
            buffer.append(source, rows, 0, count);
            Batch kept = buffer.take();
            owned.add(kept);
            FieldVector[] columns = new FieldVector[node.schema().size()];
            for (int i = 0; i < node.kept().size(); i++) {
                columns[i] = kept.column(i);
            }
            for (int i = 0; i < made.length; i++) {
                made[i].setValueCount(count);
                columns[node.kept().size() + i] = made[i];
                owned.add(made[i]);
            }
            made = new FieldVector[0];
            Batch result = Batch.view(node.schema(), columns, count, kept.weights(), owned);
            done = true;
            count = 0;
            output.emit(result);
        } finally {
            if (!done) {
                Closing.all(owned);
            }
        }
    }

    /** The batch with the kept columns alone. */
    private Batch keptColumns(Batch batch) {
        FieldVector[] columns = node.kept().stream().map(batch::column).toArray(FieldVector[]::new);
        return Batch.view(
                batch.schema().select(node.kept()),
                columns,
                batch.rowCount(),
                batch.weights(),
                List.of(batch.retain()));
    }

    private void abandon() {
        List<FieldVector> open = List.of(made);
        made = new FieldVector[0];
        count = 0;
        Closing.all(open);
    }

    @Override
    public void close() {
        Closing.all(functions);
        functions.clear();
    }
}
