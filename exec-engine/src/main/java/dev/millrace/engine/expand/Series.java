package dev.millrace.engine.expand;

import dev.millrace.batch.Batch;
import dev.millrace.engine.rows.RowsFunction;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.time.Timestamps;
import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.operator.OperatorContext;
import dev.millrace.text.TimeRange;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.math.BigDecimal;
import java.util.List;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.VarBinaryVector;

/** {@code generate_series(start, end, step)} of numbers or timestamps; without rows when one of them is NULL. */
final class Series implements RowsFunction {
    private final List<Integer> columns;
    private final DataType type;
    private boolean done;
    // integers and timestamps
    private long value;
    private long last;
    private long step;
    // the step between timestamps
    private int months;
    private int days;
    private boolean down;
    // NUMERIC and BIGNUM
    private BigDecimal exact = BigDecimal.ZERO;
    private BigDecimal exactLast = BigDecimal.ZERO;
    private BigDecimal exactStep = BigDecimal.ONE;

    Series(List<Integer> columns, DataType type) {
        this.columns = columns;
        this.type = type;
    }

    @Override
    public void open(OperatorContext context) {}

    @Override
    public void begin(Batch batch, int row) {
        done = columns.stream().anyMatch(column -> batch.column(column).isNull(row));
        if (done) {
            return;
        }
        if (type.isExact()) {
            exact = exact(batch, 0, row, "start value");
            exactLast = exact(batch, 1, row, "stop value");
            exactStep = columns.size() > 2 ? exact(batch, 2, row, "step size") : BigDecimal.ONE;
            down = exactStep.signum() < 0;
            requireStep(exactStep.signum() != 0);
            done = down ? exact.compareTo(exactLast) < 0 : exact.compareTo(exactLast) > 0;
            return;
        }
        value = whole(batch, 0, row);
        last = whole(batch, 1, row);
        if (type.isTimestamp()) {
            long at = batch.dataAddress(columns.get(2)) + 16L * row;
            months = Memory.getInt(at);
            days = Memory.getInt(at + 4);
            step = Memory.getLong(at + 8) / 1000;
            long length = 30L * 86_400_000_000L * months + 86_400_000_000L * days + step;
            down = length < 0;
            requireStep(length != 0);
        } else {
            step = columns.size() > 2 ? whole(batch, 2, row) : 1;
            down = step < 0;
            requireStep(step != 0);
        }
        done = down ? value < last : value > last;
    }

    private static void requireStep(boolean moves) {
        if (!moves) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "step size cannot equal zero");
        }
    }

    private BigDecimal exact(Batch batch, int argument, int row, String name) {
        int column = columns.get(argument);
        if (type.kind() == Kind.NUMERIC) {
            return ((DecimalVector) batch.column(column)).getObject(row);
        }
        long offsets = batch.offsetsAddress(column) + 4L * row;
        int from = Memory.getInt(offsets);
        Bignum number = Bignum.at(batch.dataAddress(column) + from, Memory.getInt(offsets + 4) - from);
        if (!number.isFinite()) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, name + " cannot be " + (number.isNan() ? "NaN" : "infinity"));
        }
        return number.value();
    }

    private long whole(Batch batch, int argument, int row) {
        int column = columns.get(argument);
        return type.kind() == Kind.INTEGER
                ? Memory.getInt(batch.dataAddress(column) + 4L * row)
                : Memory.getLong(batch.dataAddress(column) + 8L * row);
    }

    @Override
    public int next(FieldVector[] out, int at, int most) {
        int count = 0;
        while (count < most && !done) {
            put(out[0], at + count++);
            advance();
        }
        return count;
    }

    private void put(FieldVector out, int at) {
        if (out instanceof IntVector vector) {
            vector.setSafe(at, (int) value);
        } else if (out instanceof BigIntVector vector) {
            vector.setSafe(at, value);
        } else if (out instanceof TimeStampVector vector) {
            vector.setSafe(at, value);
        } else if (out instanceof VarBinaryVector vector) {
            vector.setSafe(at, Bignum.of(exact).toBytes());
        } else {
            ((DecimalVector) out).setSafe(at, exact);
        }
    }

    private void advance() {
        if (type.isExact()) {
            exact = exact.add(exactStep);
            done = down ? exact.compareTo(exactLast) < 0 : exact.compareTo(exactLast) > 0;
            return;
        }
        if (type.isTimestamp()) {
            if (!TimeRange.isFinite(value)) {
                done = true; // which does not move
                return;
            }
            value = Timestamps.add(value, months, days, step);
        } else {
            long next = value + step;
            done = down ? next > value : next < value; // past the ends of the type
            value = next;
        }
        done |= down ? value < last : value > last;
    }

    @Override
    public void close() {}
}
