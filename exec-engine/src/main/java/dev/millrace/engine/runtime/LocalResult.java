package dev.millrace.engine.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.engine.channel.Outlet;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.statistic.QueryStatistics;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.engine.task.TaskOutput;
import dev.millrace.engine.view.View;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.scheduler.Signal;
import dev.millrace.type.Schema;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** A pull query: the tasks put batches in a bounded queue, the caller takes them. */
final class LocalResult implements Result, Outlet, TaskOutput, QueryTasks.Listener {
    private final Schema schema;
    private final long highBytes;
    private final Consumer<LocalResult> onClose;
    private final Signal signal = new Signal();
    private final FailedRows failedRows = new FailedRows(false);

    @GuardedBy("this") private final ArrayDeque<Batch> queue = new ArrayDeque<>();

    @GuardedBy("this") private Optional<MillraceException> failure = Optional.empty();

    @SuppressWarnings("NullAway.Init")
    private QueryTasks tasks; // set once, before it runs

    private Optional<View> net = Optional.empty(); // set once, before it runs; then the task's

    @GuardedBy("this") private boolean closed;

    private volatile long queuedBytes; // written under the lock, read by the task
    private volatile boolean ended; // written under the lock, read by the caller
    private volatile long rowsOut; // written by the task, read by statistics

    LocalResult(Schema schema, long highBytes, Consumer<LocalResult> onClose) {
        this.schema = schema;
        this.highBytes = highBytes;
        this.onClose = onClose;
    }

    /** @param mayRetract whether rows may come that are taken back before the end, and have to cancel out first */
    void attach(QueryTasks newTasks, boolean mayRetract) {
        tasks = newTasks;
        if (mayRetract) {
            net = Optional.of(
                    new View(schema, newTasks.batchRows(), newTasks.memory().newChild("result")));
        }
    }

    /** Where failures of rows go that may be taken back before the end. */
    FailedRows failedRows() {
        return failedRows;
    }

    @Override
    public Schema schema() {
        return schema;
    }

    @Override
    public boolean takesSeveral() {
        return false;
    }

    @Override
    public List<Outlet> outlets(int count) {
        assert count == 1 : count + " tasks at the end";
        return List.of(this);
    }

    @Override
    public void rows(Batch batch) {
        if (net.isPresent()) {
            try (batch) {
                net.get().apply(batch);
            }
        } else {
            enqueue(batch);
        }
    }

    private void enqueue(Batch batch) {
        rowsOut += batch.rowCount();
        synchronized (this) {
            if (closed || batch.rowCount() == 0) {
                batch.close();
                return;
            }
            queuedBytes += batch.sizeInBytes();
            queue.add(batch);
        }
        signal.raise();
    }

    @Override
    public void watermark(long micros) {}

    @Override
    public void idle() {}

    @Override
    public void epochEnd(long epoch) {}

    @Override
    public void end() {
        if (failedRows.failure().isPresent()) {
            finish(failedRows.failure());
            return;
        }
        net.ifPresent(rows -> rows.snapshot(tasks.memory().own()).forEach(this::enqueue));
        finish(Optional.empty());
    }

    private void finish(Optional<MillraceException> why) {
        synchronized (this) {
            if (!ended) {
                ended = true;
                failure = why;
            }
        }
        signal.raise();
    }

    @Override
    public void flush() {}

    @Override
    public boolean isFull() {
        return queuedBytes > highBytes;
    }

    @Override
    public void failed(MillraceException why) {
        stop(why);
    }

    @Override
    public void ended() {}

    @Override
    public void touch() {}

    @Override
    public Optional<Batch> next() {
        try {
            tasks.workers().await(signal, () -> ended || queuedBytes > 0 || hasNext(), Long.MAX_VALUE);
        } catch (InterruptedException e) {
            Interrupt.current().cause().ifPresentOrElse(this::stop, this::cancel);
            Thread.currentThread().interrupt();
        }
        Optional<Batch> next;
        boolean room;
        synchronized (this) {
            if (failure.isPresent()) {
                throw failure.get();
            }
            boolean full = isFull();
            next = Optional.ofNullable(queue.poll());
            next.ifPresent(batch -> queuedBytes -= batch.sizeInBytes());
            room = full && !isFull();
        }
        if (room) {
            tasks.wakeAll();
        }
        return next;
    }

    private synchronized boolean hasNext() {
        return !queue.isEmpty();
    }

    @Override
    public double progress() {
        return tasks.progress().orElse(-1.0);
    }

    @Override
    public long rowsRead() {
        return Statistics.rowsRead(tasks);
    }

    @Override
    public void cancel() {
        stop(MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to user request"));
    }

    /** The engine closes. */
    void shutDown() {
        stop(MillraceException.user(SqlState.ADMIN_SHUTDOWN, "terminating connection due to administrator command"));
    }

    /** Others need what it holds. Not from within one of its tasks. */
    void giveWay(MillraceException why) {
        stop(why);
        close();
    }

    private void stop(MillraceException why) {
        finish(Optional.of(why));
        tasks.interrupt().stop(why);
    }

    @Override
    public QueryStatistics statistics() {
        return Statistics.of(tasks, ended ? QueryState.FINISHED : QueryState.RUNNING, rowsOut);
    }

    /** Called by the caller, and by the tasks when they close. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            if (!ended) {
                ended = true;
                failure = Optional.of(MillraceException.user(SqlState.QUERY_CANCELED, "the result was closed"));
            }
            queue.forEach(Batch::close);
            queue.clear();
            queuedBytes = 0;
        }
        signal.raise();
        onClose.accept(this);
    }

    /** Frees what is left once the tasks have stopped. */
    void free() {
        net.ifPresent(View::close);
    }

    QueryTasks tasks() {
        return tasks;
    }
}
