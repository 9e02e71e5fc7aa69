package dev.millrace.engine.sink;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.PreparedRows;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkStatus;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * A query's sinks: those that take rows at once, called by the query's tasks, and those that may wait for the outside,
 * behind a {@link SinkQueue} each. Sinks are added while the epochs are at rest; tasks write, and who completes an epoch
 * commits.
 */
public final class QuerySinks {
    /** Goes on with an epoch that all sinks have. */
    @FunctionalInterface
    public interface Committed {
        /**
         * @param rows of the epoch, the receiver's now
         * @param later whether that took another thread, so that tasks may have stopped for it
         */
        void committed(List<Batch> rows, boolean later);
    }

    private final class Owner implements SinkQueue.Owner {
        @Override
        public void hasRoom() {
            onRoom.run();
        }

        @Override
        public void failed(Throwable failure) {
            Closing.all(takeCommitting());
            onFailure.accept(failure); // before those who wait for the sink hear that it is over
            drained(true);
        }
    }

    private final Clock clock;
    private final BiConsumer<Long, Runnable> alarm;
    private final Executor threads;
    private final long queueBytes;
    private final long mostNanos;
    private final Runnable onRoom;
    private final Consumer<Throwable> onFailure;
    private volatile List<Sink> immediate = List.of(); // replaced while at rest, read by the tasks
    private volatile List<SinkQueue> queues = List.of(); // replaced while at rest, read by the tasks

    @GuardedBy("this") private List<Batch> committing = new ArrayList<>(); // rows of an epoch that sinks are committing

    @GuardedBy("this") private Optional<Committed> pending = Optional.empty(); // what goes on with those

    @GuardedBy("this") private long begun; // commits that nobody but the sink sees

    @GuardedBy("this") private long done; // of those

    @GuardedBy("this") private boolean failed;

    @GuardedBy("this") private long epochs; // that sinks were given the end of

    @GuardedBy("this") private final List<Runnable> onDrained = new ArrayList<>();

    /**
     * @param threads call the sinks that may wait
     * @param queueBytes of rows for one of them, beyond which it is full
     * @param mostNanos that a full one may take nothing before it fails
     * @param alarm runs something at a time of the clock, in nanoseconds
     * @param onRoom called when one is not full any more, or has committed
     * @param onFailure called when one has failed
     */
    public QuerySinks(
            Executor threads,
            long queueBytes,
            long mostNanos,
            Clock clock,
            BiConsumer<Long, Runnable> alarm,
            Runnable onRoom,
            Consumer<Throwable> onFailure) {
        this.clock = clock;
        this.alarm = alarm;
        this.threads = threads;
        this.queueBytes = queueBytes;
        this.mostNanos = mostNanos;
        this.onRoom = onRoom;
        this.onFailure = onFailure;
    }

    public void add(Sink sink) {
        if (sink.isImmediate()) {
            List<Sink> more = new ArrayList<>(immediate);
            more.add(sink);
            immediate = List.copyOf(more);
        } else {
            List<SinkQueue> more = new ArrayList<>(queues);
            more.add(new SinkQueue(sink, threads, queueBytes, mostNanos, clock, alarm, new Owner()));
            queues = List.copyOf(more);
        }
        if (sink instanceof CheckpointedSink checkpointed) {
            if (!isOneQueue()) {
                throw new IllegalStateException("a sink that goes by checkpoints is its query's only one, and waits");
            }
            checkpointed.whenRoom(onRoom);
        }
    }

    /** The queue of the sink, if it goes by checkpoints. */
    private Optional<SinkQueue> checkpointed() {
        List<SinkQueue> all = queues;
        return all.isEmpty()
                ? Optional.empty()
                : Optional.of(all.get(0)).filter(queue -> queue.checkpointed().isPresent());
    }

    /** Whether there is a sink that shows rows when a checkpoint has them. */
    public boolean goByCheckpoints() {
        return checkpointed().isPresent();
    }

    /** Whether there is one that has not failed: what checkpoints have of it is shown until it is closed, whatever became of the query. */
    public boolean goOnShowing() {
        return checkpointed().filter(queue -> !queue.isOver()).isPresent();
    }

    /** Has the sink that goes by checkpoints go on from one; before any row. */
    public void recover(Optional<PreparedRows> from) {
        checkpointed().ifPresent(queue -> queue.step(sink -> sink.recover(from), false, () -> {}));
    }

    /**
     * Has it prepare for a checkpoint, behind what it was given so far.
     *
     * @param then given what it prepared, by the thread that calls it
     * @param never runs instead if it failed, or is closed before
     */
    public void prepare(long checkpoint, Consumer<PreparedRows> then, Runnable never) {
        checkpointed()
                .ifPresentOrElse(
                        queue -> queue.step(
                                sink -> then.accept(new PreparedRows(checkpoint, sink.prepare(checkpoint))),
                                true,
                                never),
                        never);
    }

    /** Has it show what a checkpoint has that is on disk. */
    public void publish(long checkpoint) {
        checkpointed().ifPresent(queue -> queue.step(sink -> sink.publish(checkpoint), false, () -> {}));
    }

    /** What is to be closed when the tasks are: the sinks, behind their queues. */
    public List<AutoCloseable> closeables() {
        List<AutoCloseable> all = new ArrayList<>(immediate);
        all.addAll(queues);
        return all;
    }

    /** See {@link SinkQueue#beginClosing}. */
    public void beginClosing() {
        queues.forEach(SinkQueue::beginClosing);
    }

    /**
     * Gives rows to every sink; returns whether there is one. The batch stays the caller's.
     *
     * @param several whether other tasks write too: a sink for one thread is called by one at a time then
     */
    public boolean write(Batch batch, boolean several) {
        List<Sink> atOnce = immediate;
        for (int i = 0; i < atOnce.size(); i++) {
            Sink sink = atOnce.get(i);
            if (!several || sink.isConcurrent()) {
                sink.write(batch);
            } else {
                synchronized (sink) {
                    sink.write(batch);
                }
            }
        }
        List<SinkQueue> slower = queues;
        for (int i = 0; i < slower.size(); i++) {
            slower.get(i).write(batch);
        }
        return !atOnce.isEmpty() || !slower.isEmpty();
    }

    public boolean isFull() {
        List<SinkQueue> slower = queues;
        for (int i = 0; i < slower.size(); i++) {
            if (slower.get(i).isFull()) {
                return true;
            }
        }
        return false;
    }

    /** Has all sinks commit an epoch, then goes on with its rows. If one fails nobody sees them. */
    public void commit(long epoch, List<Batch> rows, Committed then) {
        synchronized (this) {
            epochs++;
        }
        try {
            immediate.forEach(sink -> sink.commit(epoch));
        } catch (RuntimeException | Error e) {
            Closing.all(rows);
            throw e;
        }
        List<SinkQueue> slower = queues;
        if (slower.isEmpty()) {
            then.committed(rows, false);
            return;
        }
        synchronized (this) {
            committing = rows;
            pending = Optional.of(then);
        }
        commitFrom(0, slower, epoch);
    }

    /**
     * Goes on with an epoch that sinks are committing, if there is one: nobody waits for them any more, and others may see it before
     * a sink has it.
     */
    public void goOnWithoutCommit() {
        List<Batch> rows;
        Optional<Committed> then;
        synchronized (this) {
            then = pending;
            pending = Optional.empty();
            begun += then.isPresent() ? 1 : 0;
            rows = then.isPresent() ? takeCommitting() : List.of();
        }
        then.ifPresent(next -> next.committed(rows, true));
    }

    /** Runs something, once, when no thread is in a sink: now, or by the last that leaves one. After they were closed. */
    public void whenLeft(Runnable action) {
        whenLeft(queues.iterator(), action);
    }

    private static void whenLeft(Iterator<SinkQueue> left, Runnable action) {
        if (left.hasNext()) {
            left.next().whenLeft(() -> whenLeft(left, action));
        } else {
            action.run();
        }
    }

    /** How those are that have something to say. */
    public List<SinkStatus> statuses() {
        return queues.stream().map(SinkQueue::status).flatMap(Optional::stream).toList();
    }

    /** Whether a thread is in a sink. */
    public boolean areCalled() {
        return queues.stream().anyMatch(SinkQueue::isCalled);
    }

    /** Whether there is one sink, which may wait for the outside. */
    public boolean isOneQueue() {
        return immediate.isEmpty() && queues.size() == 1;
    }

    /** Has the one sink commit an epoch when its turn comes; the epoch is over for everybody else. */
    public void commitApart(long epoch) {
        synchronized (this) {
            epochs++;
            begun++;
        }
        queues.get(0).commit(epoch, () -> drained(false));
    }

    private void drained(boolean hasFailed) {
        List<Runnable> all = List.of();
        synchronized (this) {
            done += hasFailed ? 0 : 1;
            failed |= hasFailed;
            if (failed || done == begun) {
                all = List.copyOf(onDrained);
                onDrained.clear();
            }
        }
        all.forEach(Runnable::run);
        onRoom.run();
    }

    /** Whether one has failed. */
    public synchronized boolean hasFailed() {
        return failed;
    }

    /** How many epochs with rows sinks were given. */
    public synchronized long epochs() {
        return epochs;
    }

    /** How many commits of the sink's own were begun. */
    public synchronized long commitsBegun() {
        return begun;
    }

    /** Whether so many commits of the sink's own are done, or none will be any more. */
    public synchronized boolean hasCommitted(long count) {
        return failed || done >= count;
    }

    /** Runs something, once, when the sink has committed all: now, or on the thread that calls it; or it failed. */
    public void whenDrained(Runnable action) {
        synchronized (this) {
            if (!failed && done < begun) {
                onDrained.add(action);
                return;
            }
        }
        action.run();
    }

    /** Has the queued sinks commit one after the other, so that none does behind one that fails. */
    private void commitFrom(int next, List<SinkQueue> slower, long epoch) {
        if (next < slower.size()) {
            slower.get(next).commit(epoch, () -> commitFrom(next + 1, slower, epoch));
            return;
        }
        List<Batch> rows;
        Optional<Committed> then;
        synchronized (this) {
            then = pending;
            pending = Optional.empty();
            rows = then.isPresent() ? takeCommitting() : List.of();
        }
        then.ifPresentOrElse(waiting -> waiting.committed(rows, true), () -> drained(false));
    }

    /** The rows of an epoch that sinks are committing, to be closed by the caller. */
    public synchronized List<Batch> takeCommitting() {
        pending = Optional.empty();
        List<Batch> taken = committing;
        committing = new ArrayList<>();
        return taken;
    }
}
