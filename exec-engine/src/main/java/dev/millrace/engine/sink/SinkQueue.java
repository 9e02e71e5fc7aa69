package dev.millrace.engine.sink;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkStatus;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What waits for a sink that may block: rows and ends of epochs, in their order, handed to it by one thread at a time of an
 * {@link Executor}, so that a full disk or a pipe that nobody reads holds up its own query and no worker.
 *
 * <pre>
 *   put --> [ rows, rows, commit, rows ... ] --> sink.write, sink.commit, then what follows the commit
 *               full above the mark: producers pause; told when there is room again
 * </pre>
 *
 * A sink that failed is not called again but to be closed, nor is one that takes nothing for as long as it may while producers wait, unless it waits
 * for room on the database's own disk.
 * Safe on any thread.
 */
public final class SinkQueue implements AutoCloseable {
    private static final long PATIENCE_MILLIS = 2_000;
    private static final long STEP_MILLIS = 10;

    /** How long a call of the sink is waited for when all queues are closed, and sinks had their time before. */
    private static final long PATIENCE_AT_THE_END_MILLIS = 1_000;

    private static final long PATIENCE_AFTER_INTERRUPT_MILLIS = 1_000;

    /** How long a thread may take to leave the sink by its interrupt, even if all other time is over. */
    private static final long LEAST_PATIENCE_MILLIS = 50;

    /** Whose rows these are. Called without a lock held, by the thread that calls the sink. */
    public interface Owner {
        /** The queue is not full any more. */
        void hasRoom();

        /** The sink failed: what was queued is gone, and no commit is followed by anything. */
        void failed(Throwable failure);
    }

    private sealed interface Work {
        record Rows(Batch batch) implements Work {}

        record Commit(long epoch, Runnable then) implements Work {}

        record Step(Consumer<CheckpointedSink> call, boolean isWaitedFor, Runnable never) implements Work {}
    }

    private final Sink sink;
    private final Clock clock;
    private final BiConsumer<Long, Runnable> alarm;
    private final Executor threads;
    private final long highBytes;
    private final long mostNanos;
    private final Owner owner;

    @GuardedBy("this") private final Deque<Work> waiting = new ArrayDeque<>();

    @GuardedBy("this") private boolean running; // somebody is calling the sink, or is about to

    @GuardedBy("this") private @Nullable Thread caller; // while running

    @GuardedBy("this") private long queuedBytes;

    @GuardedBy("this") private boolean over; // closed, or the sink failed: nothing is queued any more

    @GuardedBy("this") private boolean closed;

    @GuardedBy("this") private long interruptAtNanos; // the sink's call, once closed

    @GuardedBy("this") private boolean sinkClosed; // or somebody is bound to

    @GuardedBy("this") private boolean leftToCaller; // to close the sink

    @GuardedBy("this") private final List<Runnable> onLeft = new ArrayList<>(); // when the call under way has come back

    @GuardedBy("this") private long calls; // of the sink that came back

    @GuardedBy("this") private boolean watched; // an alarm is set

    @GuardedBy("this") private int steps; // that are waited for, and not done

    private volatile boolean full; // written under the lock, read by producers

    /**
     * @param highBytes rows beyond which producers should pause, until half of it is left
     * @param mostNanos for which producers wait while the sink takes nothing at all, and at most twice that;
     *     {@code Long.MAX_VALUE} for as long as it likes
     * @param alarm runs something at a time of the clock, in nanoseconds
     */
    public SinkQueue(
            Sink sink,
            Executor threads,
            long highBytes,
            long mostNanos,
            Clock clock,
            BiConsumer<Long, Runnable> alarm,
            Owner owner) {
        this.sink = sink;
        this.clock = clock;
        this.alarm = alarm;
        this.threads = threads;
        this.highBytes = highBytes;
        this.mostNanos = mostNanos;
        this.owner = owner;
    }

    /** Adds rows; the batch stays the caller's. */
    public void write(Batch batch) {
        put(new Work.Rows(batch.retain()), batch.sizeInBytes());
    }

    /** Adds the end of an epoch; {@code then} runs after the sink's commit, unless it fails or is closed before. */
    public void commit(long epoch, Runnable then) {
        put(new Work.Commit(epoch, then), 0);
    }

    /**
     * Adds a call of a sink that goes by checkpoints.
     *
     * @param isWaitedFor whether others wait for it, so that it is not to wait for longer than rows may
     * @param never runs if the call is not made, or failed: on any thread, with the queue locked, so that it takes no lock and no time
     *     but to tell
     */
    void step(Consumer<CheckpointedSink> call, boolean isWaitedFor, Runnable never) {
        put(new Work.Step(call, isWaitedFor, never), 0);
    }

    /** The sink, if it goes by checkpoints. */
    Optional<CheckpointedSink> checkpointed() {
        return sink instanceof CheckpointedSink of ? Optional.of(of) : Optional.empty();
    }

    /** Whether producers should pause. */
    public boolean isFull() {
        return full || sink instanceof CheckpointedSink of && of.isFull();
    }

    private void put(Work work, long bytes) {
        boolean starts;
        boolean watches;
        boolean late;
        synchronized (this) {
            late = over;
            if (!late) {
                waiting.add(work);
                steps += work instanceof Work.Step step && step.isWaitedFor() ? 1 : 0;
            }
            queuedBytes += late ? 0 : bytes;
            full |= queuedBytes > highBytes;
            watches = !late && isWaitedFor() && !watched && mostNanos < Long.MAX_VALUE;
            watched |= watches;
            starts = !late && !running;
            running |= starts;
        }
        if (late) {
            free(List.of(work));
        }
        if (starts) {
            threads.execute(this::callSink);
        }
        if (watches) {
            watchFrom(calls());
        }
    }

    @GuardedBy("this") private boolean isWaitedFor() {
        return full || steps > 0;
    }

    private synchronized long calls() {
        return calls;
    }

    private void watchFrom(long before) {
        alarm.accept(clock.nanoTime() + mostNanos, () -> watch(before));
    }

    /** While producers or a checkpoint wait: a sink that took nothing since the last look fails, so that the others go on. */
    private void watch(long before) {
        long now;
        long bytes;
        synchronized (this) {
            bytes = queuedBytes;
            watched = isWaitedFor() && !over;
            if (!watched) {
                return;
            }
            now = calls;
        }
        if (now != before || sink instanceof CheckpointedSink of && of.waitsForDisk()) {
            watchFrom(now);
            return;
        }
        fail(MillraceException.resources(
                        SqlState.CONFIGURATION_LIMIT_EXCEEDED,
                        "the sink has taken nothing for sink_timeout (" + mostNanos / 1_000_000 + " ms), and "
                                + Math.min(bytes, highBytes) + " bytes wait for it")
                .withHint("see that somebody reads what it writes to, then make it again;"
                        + " a sink may have more time: SET sink_timeout before it is created"));
    }

    /** Runs something, once, when no thread is in the sink: now, or by the one that leaves it. After it was closed. */
    public void whenLeft(Runnable action) {
        synchronized (this) {
            if (running) {
                onLeft.add(action);
                return;
            }
        }
        action.run();
    }

    /** How the sink is. */
    Optional<SinkStatus> status() {
        return sink.status();
    }

    /** Whether a thread is in the sink, or about to be. */
    public synchronized boolean isCalled() {
        return running;
    }

    private void callSink() {
        boolean closes;
        List<Runnable> left;
        while (true) {
            Work work;
            synchronized (this) {
                if (waiting.isEmpty()) {
                    running = false;
                    caller = null;
                    Thread.interrupted(); // was meant for the sink
                    closes = closed && leftToCaller;
                    leftToCaller = false;
                    left = List.copyOf(onLeft);
                    onLeft.clear();
                    notifyAll();
                    break;
                }
                caller = Thread.currentThread();
                work = waiting.remove();
            }
            try {
                call(work);
                synchronized (this) {
                    calls++;
                }
            } catch (RuntimeException | Error e) {
                fail(e);
                if (work instanceof Work.Step step) {
                    step.never().run();
                }
            }
        }
        try {
            if (closes) {
                sink.close(); // whoever closed the queue did not wait that long
            }
        } finally {
            left.forEach(Runnable::run);
        }
    }

    private void call(Work work) {
        if (work instanceof Work.Rows rows) {
            long bytes = rows.batch().sizeInBytes();
            try (Batch batch = rows.batch()) {
                sink.write(batch);
            }
            boolean room = false;
            synchronized (this) {
                queuedBytes -= bytes;
                if (full && queuedBytes <= highBytes / 2) {
                    full = false;
                    room = true;
                }
            }
            if (room) {
                owner.hasRoom();
            }
        } else if (work instanceof Work.Commit commit) {
            sink.commit(commit.epoch());
            boolean goesOn;
            synchronized (this) {
                goesOn = !closed;
            }
            if (goesOn) {
                commit.then().run();
            }
        } else if (work instanceof Work.Step step) {
            step.call().accept((CheckpointedSink) sink);
            synchronized (this) {
                steps -= step.isWaitedFor() ? 1 : 0;
            }
        }
    }

    private void fail(Throwable failure) {
        boolean first;
        synchronized (this) {
            first = !over;
            finish();
        }
        if (first) {
            owner.failed(failure);
        }
    }

    /** Forgets what waits, and takes nothing any more. */
    @GuardedBy("this") private void finish() {
        over = true;
        full = false;
        queuedBytes = 0;
        steps = 0;
        List<Work> left = new ArrayList<>(waiting);
        waiting.clear();
        free(left);
    }

    private static void free(List<Work> left) {
        List<Batch> batches = new ArrayList<>();
        for (Work work : left) {
            if (work instanceof Work.Rows rows) {
                batches.add(rows.batch());
            } else if (work instanceof Work.Step step) {
                step.never().run();
            }
        }
        Closing.all(batches);
    }

    /**
     * Forgets what waits; {@link #close} is called soon, for many queues one after the other. What each would wait for the call of
     * its sink is waited for those of all.
     */
    public synchronized void beginClosing() {
        end(PATIENCE_AT_THE_END_MILLIS);
    }

    @GuardedBy("this") private void end(long patienceMillis) {
        if (!closed) {
            closed = true;
            interruptAtNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMillis);
        }
        finish();
    }

    /**
     * Forgets what waits and closes the sink. If a call of the sink is under way it is waited for a little, then interrupted;
     * a sink that does not come back even so is closed by the thread that is stuck in it, should that ever leave it.
     */
    @Override
    public void close() {
        boolean closes;
        synchronized (this) {
            end(PATIENCE_MILLIS);
            if (Thread.currentThread() != caller) {
                awaitCaller(millisUntil(interruptAtNanos));
                if (running && caller != null) {
                    caller.interrupt();
                    long left = millisUntil(interruptAtNanos) + PATIENCE_AFTER_INTERRUPT_MILLIS;
                    awaitCaller(Math.max(LEAST_PATIENCE_MILLIS, left));
                }
            }
            closes = !running && !sinkClosed;
            leftToCaller |= running && !sinkClosed;
            sinkClosed = true;
        }
        if (closes) {
            sink.close();
        }
    }

    private static long millisUntil(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos - System.nanoTime());
    }

    @GuardedBy("this") private void awaitCaller(long millis) {
        boolean interrupted = false;
        for (long left = millis; running && left > 0; left -= STEP_MILLIS) {
            try {
                wait(STEP_MILLIS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
