package dev.millrace.engine.expand;

import dev.millrace.batch.Batch;
import dev.millrace.engine.rows.RowsFunction;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.user.UserCode;
import dev.millrace.expressions.user.UserTable;
import dev.millrace.expressions.user.VectorValues;
import dev.millrace.operator.OperatorContext;
import dev.millrace.plan.node.PlanNode.TableCall;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.vector.FieldVector;

/** The rows of a user's table function. Those made of one row are held until they are asked for. */
final class UserRows implements RowsFunction {
    private final TableCall call;
    private final Schema input;
    private final UserTable function;
    private final Object[] arguments;
    private final List<Object[]> rows = new ArrayList<>();
    private int given;

    @SuppressWarnings("NullAway.Init") // by open
    private VectorValues values;

    /** @param input the columns that the call's arguments are of */
    UserRows(TableCall call, Schema input) {
        this.call = call;
        this.input = input;
        this.function = new UserTable(call.function());
        this.arguments = new Object[call.arguments().size()];
    }

    @Override
    public void open(OperatorContext context) {
        values = new VectorValues(context.allocator());
    }

    @Override
    public void begin(Batch batch, int row) {
        rows.clear();
        given = 0;
        for (int i = 0; i < arguments.length; i++) {
            int column = call.arguments().get(i);
            arguments[i] = values.read(batch.column(column), input.type(column), row);
        }
        try {
            function.call(arguments, rows::add);
        } catch (MillraceException e) {
            rows.clear();
            throw e;
        }
    }

    @Override
    public int next(FieldVector[] out, int at, int most) {
        int count = Math.min(most, rows.size() - given);
        for (int i = 0; i < count; i++) {
            Object[] row = rows.get(given + i);
            if (row.length != out.length) {
                throw MillraceException.user(
                        SqlState.EXTERNAL_ROUTINE_EXCEPTION,
                        "function " + UserCode.name(call.function()) + " gave a row of " + row.length
                                + " values, not of " + out.length);
            }
            for (int column = 0; column < out.length; column++) {
                values.write(out[column], call.outputs().get(column).type(), at + i, row[column]);
            }
        }
        given += count;
        return count;
    }

    @Override
    public void close() {
        if (values != null) {
            values.close();
        }
    }
}
