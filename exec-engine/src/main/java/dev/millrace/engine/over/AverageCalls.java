package dev.millrace.engine.over;

import dev.millrace.batch.Vectors;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.type.Field;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float8Vector;

/**
 * One exponential moving average: each row's is made of that of the last row with a value, which is among that row's results, so a
 * partition needs no more of what was. By time it is the average of an exponential kernel over unevenly spaced values, each of which
 * holds since the one before (Eckner, Algorithms for Unevenly Spaced Time Series, 2012, section 4.1: EMA_next).
 */
final class AverageCalls implements Calls {
    private final OverCall call;
    private final int position;
    private final Field field;
    private final OrderedRows rows;
    private final RowCodec resultCodec;
    private final BufferAllocator allocator;
    private final int value; // where it is in a row
    private final int time;
    private final boolean byTime;
    private boolean known; // whether there is an average
    private double average;
    private long lastTime;

    /** @param position of the call in the node */
    AverageCalls(
            OverCall call,
            int position,
            Field field,
            OrderedRows rows,
            RowCodec resultCodec,
            BufferAllocator allocator) {
        this.call = call;
        this.position = position;
        this.field = field;
        this.rows = rows;
        this.resultCodec = resultCodec;
        this.allocator = allocator;
        this.byTime = call.arguments().size() > 1;
        this.value = rows.codec().slot(call.arguments().get(0));
        this.time = byTime ? rows.codec().slot(call.arguments().get(1)) : 0;
    }

    static boolean computes(OverCall call) {
        return call.function() == OverCall.Function.EMA;
    }

    private boolean counts(long row) {
        for (int column : call.arguments()) {
            if (RowCodec.isNull(row, column)) {
                return false;
            }
        }
        return true;
    }

    /** The last row up to this one that has a value and an average; -1 if there is none. */
    private int lastKnown(int row) {
        int at = row;
        while (at >= 0 && !(counts(rows.at(at)) && !KeptRow.isFailure(KeptRow.result(rows.at(at))))) {
            at--;
        }
        return at;
    }

    @Override
    public void begin(int from) {
        int last = lastKnown(from - 1);
        known = last >= 0;
        if (known) {
            long row = rows.at(last);
            average = Memory.getDouble(KeptRow.result(row) + resultCodec.slot(position));
            lastTime = Memory.getLong(row + time);
        }
        for (int row = last + 1; row < from; row++) { // rows whose results are a failure count all the same
            add(rows.at(row));
        }
    }

    private void add(long row) {
        if (!counts(row)) {
            return;
        }
        double next = Memory.getDouble(row + value);
        long at = Memory.getLong(row + time);
        average = known ? average + share(at) * (next - average) : next;
        lastTime = at;
        known = true;
    }

    /** Of the newest value. */
    private double share(long at) {
        return byTime
                ? -Math.expm1(-Math.log(2) * Math.abs((double) at - lastTime) / call.parameter())
                : Double.longBitsToDouble(call.parameter());
    }

    @Override
    public void compute(int from, int to, FieldVector[] results) {
        Float8Vector averages = (Float8Vector) Vectors.allocate(field, to - from, 0, allocator);
        results[position] = averages;
        for (int row = from; row < to; row++) {
            add(rows.at(row));
            if (known) {
                averages.set(row - from, average);
            } else {
                averages.setNull(row - from);
            }
        }
        Vectors.finish(averages, to - from);
    }

    @Override
    public int stillNeeded(int row) {
        return Math.max(0, lastKnown(row));
    }

    @Override
    public void close() {}
}
