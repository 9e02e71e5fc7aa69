package dev.millrace.engine.join;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.JoinTime;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;

/** The rows of both sides of a join by the time from which on none can meet them. */
final class RowLifetimes {
    private final TimeBounds times;
    private final List<TimedRows> rows; // left, right

    private long[] gone = new long[64]; // rows whose time is over
    private int goneCount;

    private RowLifetimes(TimeBounds times) {
        this.times = times;
        long kept = times.reach(0) + times.reach(1);
        this.rows = List.of(new TimedRows(times.untilSlot(0), kept), new TimedRows(times.untilSlot(1), kept));
    }

    /** Those of a join, if time drops its rows one by one. */
    static Optional<RowLifetimes> of(Optional<JoinTime> time, RowCodec left, RowCodec right) {
        return TimeBounds.of(time, left, right).map(RowLifetimes::new);
    }

    TimeBounds times() {
        return times;
    }

    /** A row came, which has a time if its side has. */
    void add(int side, long row) {
        if (times.isTimed(side)) {
            rows.get(side).add(row);
        }
    }

    /** The rows of a state are all there are. */
    void readAll(JoinState state) {
        rows.forEach(TimedRows::clear);
        for (int port = 0; port < rows.size(); port++) {
            int side = port;
            state.forEach(side, row -> add(side, row));
        }
    }

    /** Takes out the rows of a side that none can reach any more, calls back with each, and returns how many. */
    int end(int side, long watermarkMicros, LongConsumer ended) {
        long due =
                watermarkMicros == Operator.END_OF_INPUT ? Operator.END_OF_INPUT : watermarkMicros - times.reach(side);
        goneCount = 0;
        rows.get(side).takeBefore(due, row -> {
            ended.accept(row);
            if (goneCount == gone.length) {
                gone = Arrays.copyOf(gone, 2 * goneCount);
            }
            gone[goneCount++] = row;
        });
        return goneCount;
    }

    /** Row i of the last {@link #end}. */
    long ended(int i) {
        return gone[i];
    }

    long bytes() {
        return rows.get(0).bytes() + rows.get(1).bytes();
    }
}
