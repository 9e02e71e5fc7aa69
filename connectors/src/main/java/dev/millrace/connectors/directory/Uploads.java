package dev.millrace.connectors.directory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connectors.s3.ObjectName;
import dev.millrace.connectors.s3.ObjectStore;
import dev.millrace.connectors.s3.StoreOptions;
import dev.millrace.connectors.split.Backoff;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.time.Clock;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The thread {@code millrace-upload-SINK}: makes objects of files, one after the other, and tries again what the store did not take. Safe on any thread.
 *
 * <pre>
 *   waiting --{@link ObjectUpload}--> shown, and its file removed
 *      ^            |
 *      +-- failed --+      any failure but the store's: over
 * </pre>
 */
final class Uploads implements AutoCloseable {
    private static final long FIRST_WAIT_MILLIS = 100;
    private static final long MOST_WAIT_MILLIS = 30_000;
    private static final long PATIENCE_MILLIS = 2_000;

    /**
     * A file that is to be an object.
     *
     * @param rows that the sink has shown when this is
     */
    record Waiting(PartEntry entry, Path file, ObjectName object, long rows) {}

    /**
     * How it is, for users.
     *
     * @param rows that the sink has shown
     */
    record State(long rows, long silentMicros, Optional<String> lastError, boolean waitsForStore) {}

    private final StoreOptions options;
    private final ObjectName target;
    private final PartName names;
    private final Clock clock;
    private final Runnable onShown;
    private final Backoff backoff;
    private final Thread thread;

    @GuardedBy("this") private final Deque<Waiting> waiting = new ArrayDeque<>(); // the first is under way

    @GuardedBy("this") private long bytes; // of those

    @GuardedBy("this") private long rows;

    @GuardedBy("this") private boolean started;

    @GuardedBy("this") private boolean closed;

    @GuardedBy("this") private Optional<MillraceException> failure = Optional.empty(); // for good

    @GuardedBy("this") private Optional<String> lastError = Optional.empty();

    @GuardedBy("this") private boolean retries;

    @GuardedBy("this") private long progressNanos;

    /**
     * @param target what all keys begin with
     * @param onShown called by the thread for each object, when its file is gone
     */
    Uploads(String sink, StoreOptions options, ObjectName target, PartName names, Clock clock, Runnable onShown) {
        this.options = options;
        this.target = target;
        this.names = names;
        this.clock = clock;
        this.onShown = onShown;
        this.backoff = new Backoff(FIRST_WAIT_MILLIS, MOST_WAIT_MILLIS, sink.hashCode() + clock.nanoTime());
        this.thread = new Thread(this::run, "millrace-upload-" + sink);
        thread.setDaemon(true);
    }

    /** Begins; before anything is added. */
    synchronized void start() {
        started = true;
        thread.start();
    }

    /** These are shown behind those before. */
    synchronized void add(List<Waiting> files) {
        if (waiting.isEmpty()) {
            progressNanos = clock.nanoTime();
        }
        waiting.addAll(files);
        for (Waiting file : files) {
            bytes += file.entry().bytes();
        }
        notifyAll();
    }

    /** Those that are not shown, or not known to be. */
    synchronized List<PartEntry> left() {
        return waiting.stream().map(Waiting::entry).toList();
    }

    synchronized long leftBytes() {
        return bytes;
    }

    /** @throws MillraceException why nothing is shown any more, if that is so */
    synchronized void requireNoFailure() {
        failure.ifPresent(why -> {
            throw why.again();
        });
    }

    /**
     * Waits until all are shown.
     *
     * @throws MillraceException why they are not, after so long
     */
    synchronized void awaitAll(long millis) {
        long end = clock.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        try {
            while (!waiting.isEmpty()) {
                requireNoFailure();
                long left = TimeUnit.NANOSECONDS.toMillis(end - clock.nanoTime());
                if (left <= 0) {
                    throw MillraceException.external(
                            SqlState.CONNECTION_FAILURE, lastError.orElse(target + " takes nothing"));
                }
                wait(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw MillraceException.external(SqlState.QUERY_CANCELED, "stopped while objects were uploaded", e);
        }
    }

    private void run() {
        try (ObjectStore store = new ObjectStore(options)) {
            boolean isTidy = false;
            while (!isClosed()) {
                try {
                    if (!isTidy) {
                        ObjectUpload.abortForgotten(store, target, names, known());
                        isTidy = true;
                    }
                    Optional<Waiting> next = next();
                    if (next.isEmpty()) {
                        return;
                    }
                    ObjectUpload.show(store, next.get().file(), next.get().object(), clock);
                    shown(next.get());
                } catch (MillraceException e) {
                    if (!failed(e)) {
                        return;
                    }
                }
            }
        } catch (RuntimeException | Error e) {
            over(e instanceof MillraceException known ? known : MillraceException.internal("an upload: " + e, e));
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private synchronized List<Path> known() {
        return waiting.stream().map(Waiting::file).toList();
    }

    /** Waits for a file; none when it is closed. */
    private synchronized Optional<Waiting> next() {
        try {
            while (!closed && waiting.isEmpty()) {
                wait();
            }
            return closed ? Optional.empty() : Optional.of(waiting.element());
        } catch (InterruptedException e) {
            return Optional.empty();
        }
    }

    private void shown(Waiting file) {
        backoff.succeeded();
        synchronized (this) {
            waiting.remove();
            bytes -= file.entry().bytes();
            rows = file.rows();
            retries = false;
            lastError = Optional.empty();
            progressNanos = clock.nanoTime();
            notifyAll();
        }
        onShown.run();
    }

    /** Waits until it is time to try again; false if that is of no use, or it is closed. */
    private boolean failed(MillraceException why) {
        boolean passes =
                (why.fault() == MillraceException.Fault.EXTERNAL || why.fault() == MillraceException.Fault.RESOURCES)
                        && why.sqlState() != SqlState.DATA_CORRUPTED;
        if (!passes) {
            over(why);
            return false;
        }
        synchronized (this) {
            retries = true;
            lastError = Optional.of(String.valueOf(why.getMessage()));
            try {
                if (!closed) {
                    wait(backoff.nextMillis());
                }
                return !closed;
            } catch (InterruptedException e) {
                return false;
            }
        }
    }

    private synchronized void over(MillraceException why) {
        if (failure.isEmpty() && !closed) {
            failure = Optional.of(why);
            lastError = Optional.of(String.valueOf(why.getMessage()));
        }
        notifyAll();
    }

    synchronized State state() {
        long silent = waiting.isEmpty() ? 0 : TimeUnit.NANOSECONDS.toMicros(clock.nanoTime() - progressNanos);
        return new State(rows, silent, lastError, retries);
    }

    /** Lets go of the store; waits some seconds for the thread. */
    @Override
    public void close() {
        boolean runs;
        synchronized (this) {
            closed = true;
            runs = started;
            notifyAll();
        }
        if (!runs) {
            return;
        }
        try {
            thread.join(PATIENCE_MILLIS / 4);
            thread.interrupt();
            thread.join(PATIENCE_MILLIS);
        } catch (InterruptedException e) {
            thread.interrupt();
            Thread.currentThread().interrupt();
        }
    }
}
