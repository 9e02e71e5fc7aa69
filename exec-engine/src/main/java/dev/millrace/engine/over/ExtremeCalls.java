package dev.millrace.engine.over;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * MIN or MAX over a frame. While the frame slides a queue holds the rows that may still become the extreme: each is better
 * than all behind it that came before (the monotone queue of sliding-window maxima).
 */
final class ExtremeCalls implements Calls {
    private final OverCall call;
    private final int column;
    private final int filter;
    private final boolean maximum;
    private final int position;
    private final Field field;
    private final DataType type;
    private final OrderedRows rows;
    private final FrameCursor cursor;
    private final BufferAllocator allocator;
    private final long nulls;
    private int[] queue = new int[64];
    private int head;
    private int tail;
    private int seen; // rows before were offered to the queue
    private boolean begun;

    /**
     * @param position of the call in the node
     * @param nulls a row of NULLs
     */
    ExtremeCalls(OverCall call, int position, Field field, OrderedRows rows, long nulls, BufferAllocator allocator) {
        AggregateCall aggregate = call.aggregate().orElseThrow();
        this.call = call;
        this.column = aggregate.arguments().get(0);
        this.filter = aggregate.filter().orElse(-1);
        this.maximum = aggregate.function() == AggregateCall.Function.MAX;
        this.position = position;
        this.field = field;
        this.type = rows.codec().type(column);
        this.rows = rows;
        this.cursor = new FrameCursor(call.frame(), rows);
        this.nulls = nulls;
        this.allocator = allocator;
    }

    static boolean computes(OverCall call) {
        return call.aggregate()
                .filter(aggregate -> List.of(AggregateCall.Function.MIN, AggregateCall.Function.MAX)
                        .contains(aggregate.function()))
                .isPresent();
    }

    @Override
    public void begin(int from) {
        cursor.reset();
        begun = false;
        head = 0;
        tail = 0;
    }

    @Override
    public void compute(int from, int to, FieldVector[] results) {
        long[] sources = new long[to - from];
        for (int row = from; row < to; row++) {
            cursor.move(row);
            int source = cursor.excludes() ? scan() : slide();
            sources[row - from] = source < 0 ? nulls : rows.at(source);
        }
        results[position] = rows.codec().decode(column, field, sources, to - from, allocator);
    }

    private int slide() {
        seen = begun ? seen : cursor.start();
        begun = true;
        for (; seen < cursor.end(); seen++) {
            if (counts(seen)) {
                while (tail > head && isBetter(rows.at(seen), rows.at(queue[tail - 1]))) {
                    tail--;
                }
                add(seen);
            }
        }
        while (head < tail && queue[head] < cursor.start()) {
            head++;
        }
        return head < tail ? queue[head] : -1;
    }

    private void add(int row) {
        if (tail == queue.length) {
            int size = tail - head;
            int[] into = size > queue.length / 2 ? Arrays.copyOf(queue, 2 * queue.length) : queue;
            System.arraycopy(queue, head, into, 0, size);
            queue = into;
            head = 0;
            tail = size;
        }
        queue[tail++] = row;
    }

    /** With rows left out of the middle of a frame there is no queue. */
    private int scan() {
        Interrupt.checkCurrent();
        int best = -1;
        for (int row = cursor.start(); row < cursor.end(); row++) {
            if (!cursor.isExcluded(row) && counts(row) && (best < 0 || isBetter(rows.at(row), rows.at(best)))) {
                best = row;
            }
        }
        return best;
    }

    private boolean counts(int index) {
        long row = rows.at(index);
        return !RowCodec.isNull(row, column) && (filter < 0 || isTrue(row, filter, rows.codec()));
    }

    static boolean isTrue(long row, int column, RowCodec codec) {
        return !RowCodec.isNull(row, column) && Memory.getLong(row + codec.slot(column)) != 0;
    }

    private boolean isBetter(long row, long than) {
        int slot = rows.codec().slot(column);
        int comparison = RowOrder.compare(type, row, slot, than, slot);
        return maximum ? comparison > 0 : comparison < 0;
    }

    @Override
    public int stillNeeded(int row) {
        return cursor.isRunning() ? 0 : cursor.start();
    }

    @Override
    public void close() {}

    @Override
    public String toString() {
        return call.toString();
    }
}
