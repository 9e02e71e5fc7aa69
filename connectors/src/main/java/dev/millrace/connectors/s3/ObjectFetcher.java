package dev.millrace.connectors.s3;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connectors.input.FileErrors;
import dev.millrace.connectors.split.Backoff;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A thread {@code millrace-s3-N} that brings objects to the local disk, one at a time, and tries again what a store that is away did not give. What it gives is
 * taken by one thread; safe on any.
 *
 * <pre>
 *   idle --fetch, list--> busy --(tries again)--> answered --take--> idle
 * </pre>
 */
final class ObjectFetcher implements AutoCloseable {
    private static final AtomicLong NUMBERS = new AtomicLong();
    private static final long FIRST_WAIT_MILLIS = 200;
    private static final long MOST_WAIT_MILLIS = 10_000;
    private static final long PATIENCE_MILLIS = 2_000;
    private static final int MOST_NAME_LENGTH = 100;

    /** What became of what was asked for. */
    sealed interface Answer {
        /** The object is in a file, which is the taker's. */
        record Fetched(StoredObject object, Path file) implements Answer {}

        /** The object is gone, or is another one. */
        record Lost(StoredObject object, MillraceException why) implements Answer {}

        record Listed(List<StoredObject> objects) implements Answer {}

        /** No more can be asked for. */
        record Failed(MillraceException why) implements Answer {}
    }

    /**
     * How it is, for users.
     *
     * @param retries since the last success
     */
    record State(long retries, Optional<String> lastError) {}

    private interface Task {
        Answer run(ObjectStore store) throws IOException;
    }

    private final StoreOptions options;
    private final ObjectPaths paths;
    private final Runnable onAnswer;
    private final Backoff backoff;
    private final Thread thread;

    @GuardedBy("this") private Optional<Task> task = Optional.empty();

    @GuardedBy("this") private Optional<Answer> answer = Optional.empty();

    @GuardedBy("this") private boolean started;

    @GuardedBy("this") private boolean closed;

    @GuardedBy("this") private State state = new State(0, Optional.empty());

    private Optional<Path> directory = Optional.empty(); // the thread's
    private long files; // the thread's

    /** @param onAnswer told each time that there is one, by the thread */
    ObjectFetcher(StoreOptions options, ObjectPaths paths, Runnable onAnswer) {
        this.options = options;
        this.paths = paths;
        this.onAnswer = onAnswer;
        long number = NUMBERS.incrementAndGet();
        this.backoff = new Backoff(FIRST_WAIT_MILLIS, MOST_WAIT_MILLIS, number);
        this.thread = new Thread(this::run, "millrace-s3-" + number);
        thread.setDaemon(true);
    }

    /** Whether something may be asked for. */
    synchronized boolean isIdle() {
        return task.isEmpty() && answer.isEmpty();
    }

    synchronized State state() {
        return state;
    }

    /** What was asked for, once it is there. */
    synchronized Optional<Answer> take() {
        Optional<Answer> taken = answer;
        answer = Optional.empty();
        return taken;
    }

    /** While it is idle. */
    void fetch(StoredObject object) {
        begin(store -> fetched(object, store));
    }

    /** While it is idle. */
    void list() {
        begin(store -> new Answer.Listed(paths.listPresent(store)));
    }

    private synchronized void begin(Task next) {
        assert isIdle();
        task = Optional.of(next);
        if (!started) {
            started = true;
            thread.start();
        }
        notifyAll();
    }

    private void run() {
        try (ObjectStore store = new ObjectStore(options)) {
            Optional<Task> next = next();
            while (next.isPresent()) {
                attempt(next.get(), store);
                next = next();
            }
        } catch (RuntimeException | Error e) {
            answers(new Answer.Failed(
                    e instanceof MillraceException known ? known : MillraceException.internal("S3: " + e, e)));
        } finally {
            removeDirectory();
        }
    }

    /** Waits for something to do; none when it is closed. */
    private synchronized Optional<Task> next() {
        try {
            while (!closed && task.isEmpty()) {
                wait();
            }
            return closed ? Optional.empty() : task;
        } catch (InterruptedException e) {
            return Optional.empty();
        }
    }

    private void attempt(Task next, ObjectStore store) {
        try {
            Answer found = next.run(store);
            backoff.succeeded();
            synchronized (this) {
                state = new State(0, state.lastError);
            }
            answers(found);
        } catch (MillraceException e) {
            if (e.fault() == MillraceException.Fault.EXTERNAL) {
                failed(e);
            } else {
                answers(new Answer.Failed(e));
            }
        } catch (IOException e) {
            failed(
                    e instanceof InterruptedIOException
                            ? MillraceException.external(SqlState.QUERY_CANCELED, "stopped", e)
                            : FileErrors.reading(
                                    Path.of(directory.map(Path::toString).orElse("s3")), e));
        }
    }

    private void answers(Answer found) {
        synchronized (this) {
            task = Optional.empty();
            answer = Optional.of(found);
        }
        onAnswer.run();
    }

    private synchronized void failed(MillraceException why) {
        state = new State(state.retries + 1, Optional.of(why.getMessage()));
        try {
            if (!closed) {
                wait(backoff.nextMillis());
            }
        } catch (InterruptedException e) {
            closed = true;
        }
    }

    private Answer fetched(StoredObject object, ObjectStore store) throws IOException {
        Path file = directory().resolve(files + "-" + localName(object.name().key()));
        try {
            store.fetch(object, object.bytes(), file);
        } catch (MillraceException e) {
            if (e.sqlState() == SqlState.UNDEFINED_FILE || e.sqlState() == SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE) {
                Files.deleteIfExists(file);
                return new Answer.Lost(object, e);
            }
            throw e;
        }
        files++;
        return new Answer.Fetched(object, file);
    }

    private Path directory() throws IOException {
        if (directory.isEmpty()) {
            directory = Optional.of(Files.createTempDirectory("millrace-s3"));
        }
        return directory.get();
    }

    /** The end of a key, which says how a file is packed, as a name that every disk takes. */
    private static String localName(String key) {
        String name = key.substring(key.lastIndexOf('/') + 1).replaceAll("[^A-Za-z0-9._-]", "_");
        return name.substring(Math.max(0, name.length() - MOST_NAME_LENGTH));
    }

    private void removeDirectory() {
        if (directory.isPresent()) {
            LocalCopies.remove(directory.get());
        }
    }

    /** Lets go of the store and of files that were not taken; waits some seconds for the thread. */
    @Override
    public void close() {
        boolean runs;
        synchronized (this) {
            closed = true;
            runs = started;
            notifyAll();
        }
        if (runs) {
            thread.interrupt();
            try {
                thread.join(PATIENCE_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
