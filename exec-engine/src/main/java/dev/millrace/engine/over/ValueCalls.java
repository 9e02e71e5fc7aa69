package dev.millrace.engine.over;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.NestedCopy;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.type.Field;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** One call whose result is a value of some row: LAG, LEAD, FIRST_VALUE, LAST_VALUE and NTH_VALUE. */
final class ValueCalls implements Calls {
    private static final int NONE = -1;

    private final OverCall call;
    private final int position;
    private final Field field;
    private final OrderedRows rows;
    private final FrameCursor cursor;
    private final BufferAllocator allocator;
    private final long nulls;
    private long[] sources = new long[0];

    /**
     * @param position of the call in the node
     * @param nulls a row of NULLs
     */
    ValueCalls(OverCall call, int position, Field field, OrderedRows rows, long nulls, BufferAllocator allocator) {
        this.call = call;
        this.position = position;
        this.field = field;
        this.rows = rows;
        this.cursor = new FrameCursor(call.frame(), rows);
        this.nulls = nulls;
        this.allocator = allocator;
    }

    static boolean computes(OverCall call) {
        return switch (call.function()) {
            case LAG, LEAD, FIRST_VALUE, LAST_VALUE, NTH_VALUE -> true;
            case ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST, NTILE, EMA, AGGREGATE -> false;
        };
    }

    @Override
    public void begin(int from) {
        cursor.reset();
    }

    @Override
    public void compute(int from, int to, FieldVector[] results) {
        int count = to - from;
        if (sources.length < count) {
            sources = new long[count];
        }
        int column = call.arguments().get(0);
        boolean missing = false;
        for (int i = 0; i < count; i++) {
            int source = source(from + i);
            missing |= source == NONE;
            sources[i] = source == NONE ? nulls : rows.at(source);
        }
        FieldVector values = rows.codec().decode(column, field, sources, count, allocator);
        results[position] = missing && call.arguments().size() > 1 ? withDefaults(values, from, count) : values;
    }

    /** The values, and the current row's default where there is none. */
    private FieldVector withDefaults(FieldVector values, int from, int count) {
        long[] own = new long[count];
        for (int i = 0; i < count; i++) {
            own[i] = rows.at(from + i);
        }
        FieldVector merged = ArrowTypes.arrowField(field).createVector(allocator); // grows as it is copied to
        try (values;
                FieldVector defaults = rows.codec().decode(call.arguments().get(1), field, own, count, allocator)) {
            for (int i = 0; i < count; i++) { // texts can only be written one after the other
                NestedCopy.copy(sources[i] == nulls ? defaults : values, i, merged, i);
            }
            merged.setValueCount(count);
            return merged;
        } catch (RuntimeException | Error e) {
            merged.close();
            throw e;
        }
    }

    private int source(int row) {
        return switch (call.function()) {
            case LAG -> shifted(row, -call.parameter());
            case LEAD -> shifted(row, call.parameter());
            case FIRST_VALUE -> inFrame(row, 1);
            case LAST_VALUE -> fromEnd(row);
            case NTH_VALUE -> inFrame(row, call.parameter());
            case ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST, NTILE, EMA, AGGREGATE ->
                throw new IllegalStateException("no value: " + call);
        };
    }

    private int shifted(int row, long distance) {
        if (!call.ignoreNulls() || distance == 0) {
            long source = Math.abs(distance) >= rows.count() ? NONE : row + distance;
            return source >= 0 && source < rows.count() ? (int) source : NONE;
        }
        int step = distance < 0 ? -1 : 1;
        long left = Math.abs(distance);
        for (int at = row + step; at >= 0 && at < rows.count(); at += step) {
            if (counts(at) && --left == 0) {
                return at;
            }
        }
        return NONE;
    }

    private boolean counts(int row) {
        return !call.ignoreNulls()
                || !RowCodec.isNull(rows.at(row), call.arguments().get(0));
    }

    private int inFrame(int row, long nth) {
        cursor.move(row);
        if (!call.ignoreNulls() && !cursor.excludes()) {
            return nth <= cursor.end() - cursor.start() ? (int) (cursor.start() + nth - 1) : NONE;
        }
        long left = nth;
        for (int at = cursor.start(); at < cursor.end(); at++) {
            if (!cursor.isExcluded(at) && counts(at) && --left == 0) {
                return at;
            }
        }
        return NONE;
    }

    private int fromEnd(int row) {
        cursor.move(row);
        for (int at = cursor.end() - 1; at >= cursor.start(); at--) {
            if (!cursor.isExcluded(at) && counts(at)) {
                return at;
            }
        }
        return NONE;
    }

    @Override
    public int stillNeeded(int row) {
        if (call.function() == OverCall.Function.LAG || call.function() == OverCall.Function.LEAD) {
            long back = call.function() == OverCall.Function.LAG ? call.parameter() : -call.parameter();
            return call.ignoreNulls() ? lastThatCount(row, back) : (int) Math.max(0, row + 1 - Math.max(0, back));
        }
        if (call.function() == OverCall.Function.LAST_VALUE && !cursor.excludes()) {
            int last = fromEnd(row); // of later rows it is this one, or one behind it
            return last == NONE ? cursor.end() : last;
        }
        return cursor.isRunning() ? 0 : cursor.start();
    }

    /** The first of so many rows, up to this one, whose value is not NULL. */
    private int lastThatCount(int row, long many) {
        int first = row + 1;
        long left = many;
        for (int at = row; at >= 0 && left > 0; at--) {
            if (counts(at)) {
                first = at;
                left--;
            }
        }
        return first;
    }

    @Override
    public void close() {}
}
