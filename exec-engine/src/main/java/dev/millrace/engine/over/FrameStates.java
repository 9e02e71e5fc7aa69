package dev.millrace.engine.over;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.batch.Owned;
import dev.millrace.engine.aggregate.AggregateLayout;
import dev.millrace.engine.aggregate.ChangeLog;
import dev.millrace.engine.aggregate.GroupKernels;
import dev.millrace.engine.aggregate.GroupState;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.type.Schema;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The states of aggregates over frames, and the rows that wait to be added to or retracted from them, which go together as a
 * batch.
 */
final class FrameStates implements AutoCloseable {
    private static final int MOST_WAITING = 4096;

    private final Owned owned = new Owned();
    private final FrameRows frameRows;
    private final NestedImages nested;
    private final ChangeLog noLog;
    private final GroupState states;
    private final long[] rows = new long[MOST_WAITING];
    private final byte[] signs = new byte[MOST_WAITING];
    private final int[] places = new int[MOST_WAITING]; // 0, 1, 2, ..: positions in a batch
    private final long[] groups = new long[MOST_WAITING];
    private int count;

    /** @param retracts whether rows leave, too */
    FrameStates(
            List<AggregateCall> calls, boolean retracts, Schema input, OrderedRows ordered, BufferAllocator allocator) {
        frameRows = new FrameRows(calls, input, ordered, allocator);
        List<AggregateCall> own = calls.stream().map(frameRows::over).toList();
        Schema schema = frameRows.schema();
        AggregateLayout layout = new AggregateLayout(new KeyLayout(schema, List.of()), own, schema, retracts, false);
        nested = owned.own(new NestedImages(allocator));
        noLog = owned.own(new ChangeLog(layout, allocator));
        states = owned.own(new GroupState(GroupKernels.addingToGiven(layout, schema), allocator));
        Arrays.setAll(places, place -> place);
    }

    GroupState states() {
        return states;
    }

    /** How many rows wait. */
    int count() {
        return count;
    }

    /** Whether they must go before another comes. */
    boolean isFull() {
        return count == MOST_WAITING;
    }

    /** The group of all rows that come by {@link #add(long, int)}. */
    void useGroup(long group) {
        Arrays.fill(groups, group);
    }

    void add(long row, int sign) {
        signs[count] = (byte) sign;
        rows[count++] = row;
    }

    void add(long row, int sign, long group) {
        groups[count] = group;
        add(row, sign);
    }

    /**
     * Gives the waiting rows to the states.
     *
     * @param until called when so many were given: how many to have given next; at most all are
     */
    @SuppressWarnings("ReturnValueIgnored") // when all were given nothing follows
    void flush(IntUnaryOperator until) {
        if (count == 0) {
            until.applyAsInt(0);
            return;
        }
        try (Batch batch = frameRows.batch(rows, signs, count)) {
            int done = 0;
            while (done < count) {
                int next = Math.min(count, until.applyAsInt(done));
                int[] some = done == 0 ? places : Arrays.copyOfRange(places, done, next);
                states.addTo(groups, batch, nested, some, next - done, noLog);
                done = next;
            }
            until.applyAsInt(done);
        } finally {
            nested.clear();
        }
        count = 0;
    }

    @Override
    public void close() {
        owned.close();
    }
}
