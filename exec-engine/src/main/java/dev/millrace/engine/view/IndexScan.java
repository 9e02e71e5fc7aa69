package dev.millrace.engine.view;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Reads some columns of the rows in some ranges of an ordered index, in its order or from its end, as of the version that was
 * current when it was opened, a batch at a time; what is written meanwhile neither waits nor is seen. For one thread at a time.
 */
public final class IndexScan implements AutoCloseable {
    private final VersionedView view;
    private final OrderedColumns key;
    private final OrderedIndex index;
    private final boolean backward;
    private final PinnedRows pinned;
    private final StateMemory memory;
    private final long version;
    private final long[] bounds; // of each range the rows that it is from and to, 0 for none, in the order of the scan
    private final int fromColumns;
    private final int toColumns;
    private final boolean fromIncluded;
    private final boolean toIncluded;
    private int range = -1; // guarded by the view's lock, as what follows
    private int ranges;
    private long next; // the tower to go on with, 0 at the end of a range
    private long touched;
    private boolean ended; // written by who reads
    private boolean closed;

    /** @param ranges of the same columns, all of which differ but for the last where the range has bounds of one side */
    IndexScan(
            VersionedView view,
            OrderedColumns key,
            OrderedIndex index,
            List<IndexRange> ranges,
            boolean backward,
            List<Integer> columns,
            RowCodec codec,
            BufferAllocator allocator,
            Pins.Pin pin) {
        IndexRange some = ranges.isEmpty() ? IndexRange.ALL : ranges.get(0);
        this.view = view;
        this.key = key;
        this.index = index;
        this.backward = backward;
        this.pinned = new PinnedRows(view.schema(), columns, codec, pin);
        this.version = pin.version;
        this.fromColumns = some.from().size();
        this.toColumns = some.to().size();
        this.fromIncluded = some.fromIncluded();
        this.toIncluded = some.toIncluded();
        this.memory = new StateMemory(allocator);
        try {
            bounds = encode(ranges, allocator);
        } catch (RuntimeException | Error e) {
            Closing.all(List.of(pinned, memory));
            throw e;
        }
    }

    /** Sorts the ranges, and keeps where they are from and to. */
    private long[] encode(List<IndexRange> given, BufferAllocator allocator) {
        long[] from = new long[given.size()];
        long[] to = new long[given.size()];
        Integer[] order = new Integer[given.size()];
        try (KeyRow row = new KeyRow(allocator)) {
            for (int i = 0; i < from.length; i++) {
                from[i] = encode(given.get(i).from(), row);
                to[i] = encode(given.get(i).to(), row);
                order[i] = i;
            }
        }
        int common = Math.min(fromColumns, toColumns) == 0
                ? Math.max(fromColumns, toColumns)
                : Math.min(fromColumns, toColumns);
        long[] by = fromColumns == 0 ? to : from;
        Arrays.sort(order, (a, b) -> index.order(common).compare(by[a], by[b]));
        long[] sorted = new long[2 * order.length];
        for (int i = 0; i < order.length; i++) {
            boolean again = i > 0 && index.order(common).compare(by[order[i - 1]], by[order[i]]) == 0;
            if (!again) { // 0.0 and -0.0 are one value
                sorted[2 * ranges] = from[order[i]];
                sorted[2 * ranges + 1] = to[order[i]];
                ranges++;
            }
        }
        return sorted;
    }

    private long encode(List<Expression> values, KeyRow row) {
        if (values.isEmpty()) {
            return 0;
        }
        row.begin(pinned.codec());
        for (int i = 0; i < values.size(); i++) {
            if (values.get(i) instanceof Literal literal) {
                row.set(key.keys().get(i).column(), literal);
            }
        }
        long kept = memory.allocate(row.length());
        Memory.copy(row.address(), kept, row.length());
        return kept;
    }

    boolean isEnded() {
        return ended;
    }

    Pins.Pin pin() {
        return pinned.pin();
    }

    OrderedIndex index() {
        return index;
    }

    // ---- with the view's lock held ---------------------------------------------------------------------------------

    /** Puts the rows that are seen of so many next ones into {@code found}; returns how many are there then. */
    int collect(long[] found, int count, int most) {
        int there = count;
        for (int left = most; left > 0 && there < found.length; left--) {
            if (next == 0) {
                nextRange();
                if (ended) {
                    return there;
                }
                continue;
            }
            long row = index.row(next);
            touched++;
            if (isBehind(row)) {
                next = 0;
                continue;
            }
            if (RowVersions.isSeenAt(row, version)) {
                found[there++] = row;
            }
            next = backward ? index.previous(next) : index.next(next);
        }
        return there;
    }

    private void nextRange() {
        if (range + 1 >= ranges) {
            ended = true;
            return;
        }
        range++;
        long from = from();
        long to = to();
        if (!backward) {
            next = from == 0 ? index.first() : index.seek(from, fromColumns, !fromIncluded);
        } else {
            long after = to == 0 ? 0 : index.seek(to, toColumns, toIncluded);
            next = after == 0 ? index.last() : index.previous(after);
        }
    }

    private long from() {
        return bounds[2 * (backward ? ranges - 1 - range : range)];
    }

    private long to() {
        return bounds[2 * (backward ? ranges - 1 - range : range) + 1];
    }

    private boolean isBehind(long row) {
        long end = backward ? from() : to();
        if (end == 0) {
            return false;
        }
        int compared = index.order(backward ? fromColumns : toColumns).compare(row, end);
        boolean included = backward ? fromIncluded : toIncluded;
        return compared == 0 ? !included : backward ? compared < 0 : compared > 0;
    }

    /** A tower is about to be freed. */
    void leaving(long tower, long following, long previous) {
        if (next == tower) {
            next = backward ? previous : following;
        }
    }

    // ---- for who reads ---------------------------------------------------------------------------------------------

    /**
     * At most so many of the next rows, with weights where one occurs more than once, in memory of the caller, who closes them;
     * empty at the end.
     *
     * @throws dev.millrace.error.MillraceException 72000 if the version had to be given up for the memory that it cost
     */
    public Optional<Batch> next(int most, BufferAllocator target) {
        return pinned.decode(new long[most], found -> view.indexes().collect(this, found), target);
    }

    /** How many rows of all versions were looked at. */
    public long touched() {
        return touched;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Closing.all(
                    List.of(pinned, memory, () -> view.indexes().closed(this))); // with which the view's memory may go
        }
    }
}
