package dev.millrace.scheduler.simulation;

import dev.millrace.scheduler.ScheduledTask;
import dev.millrace.scheduler.SimulatedWorkers;
import dev.millrace.scheduler.WindowProgress;
import dev.millrace.scheduler.Workload;
import java.util.ArrayDeque;
import java.util.Optional;

/** A task that takes rows and watermarks from its queue, in order, and gives on what they become. */
final class SimulatedOperator implements SimulatedWorkers.SimulatedTask, Workload {
    /** Rows of one time, or a watermark. */
    private static final class Item {
        private final long eventNanos;
        private final boolean isWatermark;
        private long rows;

        Item(long eventNanos, boolean isWatermark, long rows) {
            this.eventNanos = eventNanos;
            this.isWatermark = isWatermark;
            this.rows = rows;
        }
    }

    private static final long WATERMARK_NANOS = 1_000; // what passing one on takes

    private final SimulatedQuery query;
    private final OperatorSpec spec;
    private final Optional<SimulatedOperator> next;
    private final ArrayDeque<Item> queue = new ArrayDeque<>();
    private final ScheduledTask scheduled;
    private long queuedRows;
    private long rowsIn;
    private long rowsOut;
    private double owed; // parts of rows that are to come
    private double kept; // rows of the windows that are open
    private long windowEnd;
    private long taking; // rows of the run under way

    SimulatedOperator(
            SimulatedQuery query, OperatorSpec spec, Optional<SimulatedOperator> next, SimulatedWorkers workers) {
        this.query = query;
        this.spec = spec;
        this.next = next;
        this.windowEnd = spec.windowNanos();
        this.scheduled = workers.add(this);
    }

    ScheduledTask scheduled() {
        return scheduled;
    }

    void rows(long eventNanos, long rows) {
        queue.add(new Item(eventNanos, false, rows));
        queuedRows += rows;
        query.queued(rows);
        scheduled.wake();
    }

    void watermark(long eventNanos) {
        queue.add(new Item(eventNanos, true, 0));
        scheduled.wake();
    }

    /** What is taken in this run: as much as there is time for, one item's part at least. */
    @Override
    public long begin(long untilNanos, long mostRows) {
        long left = untilNanos - query.nowNanos();
        long nanos = 0;
        taking = 0;
        for (Item item : queue) {
            if (nanos >= left || taking >= mostRows) {
                break;
            }
            if (item.isWatermark) {
                nanos += WATERMARK_NANOS;
                continue;
            }
            long fit = spec.rowNanos() == 0 ? item.rows : Math.max(1, (left - nanos) / spec.rowNanos());
            long rows = Math.min(item.rows, Math.min(mostRows - taking, fit));
            nanos += rows * spec.rowNanos();
            taking += rows;
            if (rows < item.rows) {
                break;
            }
        }
        return nanos;
    }

    @Override
    public Outcome run(long untilNanos, long mostRows) {
        rowsIn += taking;
        queuedRows -= taking;
        query.queued(-taking);
        query.worked(taking);
        while (!queue.isEmpty()) {
            Item item = queue.peek();
            if (item.isWatermark) {
                queue.remove();
                passWatermark(item.eventNanos);
                continue;
            }
            long rows = Math.min(taking, item.rows);
            if (rows == 0) {
                break;
            }
            taking -= rows;
            item.rows -= rows;
            emit(item.eventNanos, rows);
            if (item.rows > 0) {
                break;
            }
            queue.remove();
        }
        return queue.isEmpty() ? Outcome.WAITING : Outcome.READY;
    }

    private void emit(long eventNanos, long rows) {
        if (spec.windowNanos() > 0) {
            kept += rows * spec.selectivity();
            return;
        }
        owed += rows * spec.selectivity();
        long whole = (long) owed;
        owed -= whole;
        give(eventNanos, whole, rows);
    }

    private void give(long eventNanos, long rows, long ofRows) {
        rowsOut += rows;
        if (next.isEmpty()) {
            query.answered(eventNanos, ofRows);
        } else if (rows > 0) {
            next.get().rows(eventNanos, rows);
        }
    }

    private void passWatermark(long eventNanos) {
        if (spec.windowNanos() > 0) {
            if (eventNanos < windowEnd) {
                return; // the next sweeps it
            }
            long end = eventNanos - eventNanos % spec.windowNanos();
            windowEnd = end + spec.windowNanos();
            long rows = (long) kept;
            kept -= rows;
            rowsOut += rows;
            next.ifPresent(operator -> {
                if (rows > 0) {
                    operator.rows(end, rows);
                }
                operator.watermark(end);
            });
            if (next.isEmpty()) {
                query.swept(end);
            }
        } else if (next.isPresent()) {
            next.get().watermark(eventNanos);
        } else {
            query.swept(eventNanos);
        }
    }

    @Override
    public String owner() {
        return query.name();
    }

    @Override
    public int priority() {
        return 0;
    }

    @Override
    public Workload workload() {
        return this;
    }

    @Override
    public long queuedRows() {
        return queuedRows;
    }

    @Override
    public long rowsIn() {
        return rowsIn;
    }

    @Override
    public long rowsOut() {
        return rowsOut;
    }

    @Override
    public Optional<ScheduledTask> downstream() {
        return next.map(SimulatedOperator::scheduled);
    }

    @Override
    public Optional<WindowProgress> progress() {
        return query.progress();
    }
}
