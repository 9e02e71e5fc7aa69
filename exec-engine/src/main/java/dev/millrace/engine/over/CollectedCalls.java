package dev.millrace.engine.over;

import dev.millrace.engine.aggregate.GroupState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Frame;
import dev.millrace.type.Schema;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Aggregates of one frame that cannot forget a row (string_agg, array_agg, DISTINCT): each row's frame is a group of its
 * own, added row by row. Costs what the frames are long together, as the results mostly are.
 */
final class CollectedCalls implements Calls {
    private final int[] positions;
    private final Schema results;
    private final FrameCursor cursor;
    private final FrameStates frames;
    private final GroupState state; // those of the frames
    private final OrderedRows rows;

    /**
     * @param calls at these positions of the node, all over {@code frame}
     * @param results of all calls
     */
    CollectedCalls(
            List<AggregateCall> calls,
            int[] positions,
            Frame frame,
            Schema input,
            Schema results,
            OrderedRows rows,
            BufferAllocator allocator) {
        this.positions = positions;
        this.rows = rows;
        this.results = results;
        this.cursor = new FrameCursor(frame, rows);
        this.frames = new FrameStates(calls, false, input, rows, allocator);
        this.state = frames.states();
    }

    @Override
    public void begin(int from) {
        cursor.reset();
    }

    @Override
    public void compute(int from, int to, FieldVector[] into) {
        int count = to - from;
        long[] groups = new long[count];
        Interrupt interrupt = Interrupt.current();
        for (int row = from; row < to; row++) {
            interrupt.check(); // each frame is gathered anew
            cursor.move(row);
            long group = state.newGroup(hash(row - from));
            groups[row - from] = group;
            for (int at = cursor.start(); at < cursor.end(); at++) {
                if (!cursor.isExcluded(at)) {
                    event(at, group);
                }
            }
        }
        flush();
        try {
            for (int call = 0; call < positions.length; call++) {
                into[positions[call]] = state.call(call, results.field(positions[call]), groups, count);
            }
        } finally {
            state.clear();
        }
    }

    /** Spreads the groups over the index. */
    private static long hash(int row) {
        return (row + 1) * 0x9E37_79B9_7F4A_7C15L;
    }

    private void event(int row, long group) {
        if (frames.isFull()) {
            flush();
        }
        frames.add(rows.at(row), 1, group);
    }

    private void flush() {
        frames.flush(done -> Integer.MAX_VALUE);
    }

    @Override
    public int stillNeeded(int row) {
        return cursor.isRunning() ? 0 : cursor.start();
    }

    @Override
    public void close() {
        frames.close();
    }
}
