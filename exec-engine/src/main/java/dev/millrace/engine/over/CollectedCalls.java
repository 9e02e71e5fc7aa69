package dev.millrace.engine.over;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.aggregate.AggregateLayout;
import dev.millrace.engine.aggregate.ChangeLog;
import dev.millrace.engine.aggregate.GroupKernels;
import dev.millrace.engine.aggregate.GroupState;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.NestedImages;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Frame;
import dev.millrace.type.Schema;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Aggregates of one frame that cannot forget a row (string_agg, array_agg, DISTINCT): each row's frame is a group of its
 * own, added row by row. Costs what the frames are long together, as the results mostly are.
 */
final class CollectedCalls implements Calls {
    private static final int MOST_EVENTS = 4096;

    private final int[] positions;
    private final Schema results;
    private final FrameCursor cursor;
    private final FrameRows frameRows;
    private final NestedImages nested;
    private final ChangeLog noLog;
    private final GroupState state;
    private final OrderedRows rows;
    private final long[] events = new long[MOST_EVENTS];
    private final byte[] signs = new byte[MOST_EVENTS];
    private final int[] eventOf = new int[MOST_EVENTS]; // 0, 1, 2, ..: positions in a batch
    private final long[] entries = new long[MOST_EVENTS];
    private int eventCount;

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
        this.frameRows = new FrameRows(calls, input, rows, allocator);
        List<AggregateCall> own = calls.stream().map(frameRows::over).toList();
        Schema schema = frameRows.schema();
        AggregateLayout layout = new AggregateLayout(new KeyLayout(schema, List.of()), own, schema, false, false);
        this.nested = new NestedImages(allocator);
        this.noLog = new ChangeLog(layout, allocator);
        this.state = new GroupState(GroupKernels.addingToGiven(layout, schema), allocator);
        Arrays.setAll(eventOf, i -> i);
        Arrays.fill(signs, (byte) 1);
    }

    @Override
    public void begin(int from) {
        cursor.reset();
    }

    @Override
    public void compute(int from, int to, FieldVector[] into) {
        int count = to - from;
        long[] groups = new long[count];
        for (int row = from; row < to; row++) {
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
        for (int call = 0; call < positions.length; call++) {
            into[positions[call]] = state.call(call, results.field(positions[call]), groups, count);
        }
        state.clear();
    }

    /** Spreads the groups over the index. */
    private static long hash(int row) {
        return (row + 1) * 0x9E37_79B9_7F4A_7C15L;
    }

    private void event(int row, long group) {
        if (eventCount == MOST_EVENTS) {
            flush();
        }
        entries[eventCount] = group;
        events[eventCount++] = rows.at(row);
    }

    private void flush() {
        if (eventCount > 0) {
            try (Batch batch = frameRows.batch(events, signs, eventCount)) {
                state.addTo(entries, batch, nested, eventOf, eventCount, noLog);
            } finally {
                nested.clear();
            }
            eventCount = 0;
        }
    }

    @Override
    public int stillNeeded(int row) {
        return cursor.isRunning() ? 0 : cursor.start();
    }

    @Override
    public void close() {
        Closing.all(List.of(nested, noLog, state));
    }
}
