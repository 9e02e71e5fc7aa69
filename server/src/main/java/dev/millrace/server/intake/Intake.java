package dev.millrace.server.intake;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.PushedReader;
import dev.millrace.connector.PushedSource;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.SplitStatus;
import dev.millrace.engine.epoch.Accepted;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.log.EventLog;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Feeds one stream from a source that others push to, by a thread of its own. A batch that is not accepted for want of disk or memory is
 * offered again; what comes meanwhile waits in the reader, as far as it has room.
 *
 * <pre>
 *   poll -> accepted: entry e of the journal -> e on disk -> acknowledge
 *     ^        | refused for now: offered again, later and later
 *     +--------+ refused for good: rejected as a whole
 * </pre>
 */
final class Intake implements Runnable, AutoCloseable {
    private static final EventLog LOG = EventLog.named("intake");
    private static final int MOST_ACCEPTED = 256; // batches that are not on disk yet
    private static final long LEAST_PAUSE_MILLIS = 50;
    private static final long MOST_PAUSE_MILLIS = 5_000;
    private static final long MOST_WAIT_MICROS = 1_000_000;
    private static final long ROOM_MICROS = 2_000; // after which queries may have taken something
    private static final long CLOSE_MILLIS = 5_000;
    private static final String BEHIND = "queries that read the stream";

    /** What of the database it needs. */
    interface Place {
        /** Whether the stream's definition is on disk, without which its rows would be nobody's after a crash. */
        boolean isDefined();

        /** Whether queries are not so far behind that the next rows would wait for them. */
        boolean hasRoom();

        /** Has rows and a change of what is remembered accepted in one step. Takes the batch over. */
        Accepted accept(Batch batch, MemoryChange change);

        /** Calls back when an entry is on disk, on a thread that must not be held up. */
        void tellDurable(long entry, Runnable then);

        boolean isDurable(long entry);

        void report(RejectedRecord record);
    }

    private final String stream;
    private final PushedSource source;
    private final IntakeContext context;
    private final Place place;
    private final boolean awaitsDisk;
    private final Thread thread;
    private final Interrupt interrupt = new Interrupt();
    private volatile boolean signalled; // written by all that have news, and by the thread
    private volatile boolean closed; // written by close, read by the thread
    private volatile boolean dropped; // written before that
    private volatile Optional<String> waitsFor = Optional.empty(); // written by the thread, read by who looks
    private volatile Optional<String> lastError = Optional.empty(); // likewise
    private volatile long retries; // likewise
    private volatile boolean isBehind; // likewise: queries take nothing for now

    @GuardedBy("this") private Optional<PushedReader> reader = Optional.empty();

    // the thread's
    private final Deque<Taken> taken = new ArrayDeque<>(); // accepted, not acknowledged
    private Optional<Batch> offered = Optional.empty(); // polled, not accepted
    private long polled; // batches
    private long pauseMillis = LEAST_PAUSE_MILLIS;

    /** A batch and the entry that has it; 0 if it had nothing to be written. */
    private record Taken(long batch, long entry) {}

    /** @param awaitsDisk whether peers hear of rows only when they are on disk, where there is one */
    Intake(String stream, PushedSource source, IntakeContext context, Place place, boolean awaitsDisk) {
        this.stream = stream;
        this.source = source;
        this.context = context;
        this.place = place;
        this.awaitsDisk = awaitsDisk;
        this.thread = new Thread(this, "millrace-intake-" + stream);
        thread.setDaemon(true);
        context.onWakeUp(this::wakeUp);
    }

    /**
     * Takes what the source needs of this machine.
     *
     * @throws MillraceException if that cannot be had
     */
    synchronized void receive() {
        if (reader.isEmpty() && !closed) {
            reader = Optional.of(source.receive(context));
        }
    }

    /** Begins to poll; what {@link #receive} could not get is tried again and again. */
    void start() {
        thread.start();
    }

    private void wakeUp() {
        signalled = true;
        LockSupport.unpark(thread);
    }

    private synchronized Optional<PushedReader> reader() {
        return reader;
    }

    @Override
    public void run() {
        while (!closed) {
            try (Interrupt.Binding binding = interrupt.bind()) {
                receive();
                Optional<PushedReader> from = reader();
                if (from.isPresent()) {
                    step(from.get());
                }
            } catch (RuntimeException e) { // of any kind: it is tried again
                if (!closed) {
                    failed(e);
                }
            }
        }
        offered.ifPresent(Batch::close);
        reader().ifPresent(this::end);
    }

    private void end(PushedReader of) {
        try (PushedReader closing = of) {
            if (dropped) {
                closing.dropped();
            }
        }
    }

    private void step(PushedReader from) {
        signalled = false;
        acknowledge(from);
        if (!place.isDefined()) {
            park(TimeUnit.MILLISECONDS.toMicros(LEAST_PAUSE_MILLIS / 5));
            return;
        }
        if (taken.size() >= MOST_ACCEPTED) {
            park(MOST_WAIT_MICROS);
            return;
        }
        if (!place.hasRoom()) { // what comes meanwhile stays with the reader, which may keep it in another way
            isBehind = true;
            park(ROOM_MICROS);
            return;
        }
        isBehind = false;
        if (offered.isEmpty()) {
            offered = from.poll();
            offered.ifPresent(batch -> polled++);
        }
        if (offered.isPresent()) {
            take(from, offered.get());
            succeeded();
        } else {
            succeeded();
            park(Math.min(MOST_WAIT_MICROS, from.retryAfterMicros()));
        }
    }

    private void take(PushedReader from, Batch batch) {
        MemoryChange change = from.remembered();
        long entry = 0;
        if (batch.rowCount() > 0 || !change.isEmpty()) {
            try {
                entry = place.accept(batch.retain(), change).entry();
            } catch (MillraceException e) {
                if (closed || e.fault() != MillraceException.Fault.USER) {
                    throw e;
                }
                refused(batch, e);
            }
        }
        offered = Optional.empty();
        batch.close();
        boolean waits = awaitsDisk && entry > 0;
        taken.add(new Taken(polled, waits ? entry : 0));
        if (waits) {
            place.tellDurable(entry, this::wakeUp);
        }
    }

    /** Rows that the stream takes at no time: connectors should have rejected them one by one. */
    private void refused(Batch batch, MillraceException why) {
        place.report(new RejectedRecord(
                "rows of " + stream,
                0,
                "",
                batch.rowCount() + " rows were refused: " + why.getMessage(),
                why.sqlState(),
                ""));
    }

    private void acknowledge(PushedReader to) {
        long last = 0;
        while (!taken.isEmpty()
                && (taken.element().entry() == 0
                        || place.isDurable(taken.element().entry()))) {
            last = taken.remove().batch();
        }
        if (last > 0) {
            to.acknowledge(last);
        }
    }

    /** Waits until there is news, and no longer than so long. */
    private void park(long micros) {
        if (!signalled && !closed) {
            LockSupport.parkNanos(this, TimeUnit.MICROSECONDS.toNanos(Math.max(1, micros)));
        }
    }

    private void succeeded() {
        if (waitsFor.isPresent()) {
            LOG.info("takes rows again", "stream", stream);
            waitsFor = Optional.empty();
        }
        retries = 0;
        pauseMillis = LEAST_PAUSE_MILLIS;
    }

    private void failed(RuntimeException e) {
        String reason = e instanceof MillraceException ? String.valueOf(e.getMessage()) : e.toString();
        if (!waitsFor.equals(Optional.of(reason))) {
            LOG.warning("takes no rows for now", "stream", stream, "reason", reason);
        }
        retries++;
        lastError = Optional.of(reason);
        waitsFor = lastError;
        signalled = false;
        LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(pauseMillis));
        pauseMillis = Math.min(MOST_PAUSE_MILLIS, 2 * pauseMillis);
    }

    /** How it is with what its peers bring; says first what it waits for itself. Any thread. */
    List<SplitStatus> splits() {
        List<SplitStatus> splits =
                new ArrayList<>(reader().map(PushedReader::splits).orElse(List.of()));
        Optional<String> waiting = waitsFor.or(() -> isBehind ? Optional.of(BEHIND) : Optional.empty());
        if (waitsFor.isPresent() || splits.isEmpty()) {
            splits.add(
                    0,
                    new SplitStatus(
                            "", "", OptionalLong.empty(), OptionalLong.empty(), 0, 0, retries, lastError, waiting));
        } else if (waiting.isPresent()) {
            splits.set(0, splits.get(0).waitingFor(waiting.get()));
        }
        return splits;
    }

    /** The stream is gone; closes it, too. */
    void drop() {
        dropped = true;
        close();
    }

    /** Ends it; what was not acknowledged is not. Waits some seconds at most for what it is at to notice. */
    @Override
    public void close() {
        closed = true;
        interrupt.stop(MillraceException.user(SqlState.ADMIN_SHUTDOWN, "stream \"" + stream + "\" is closed"));
        if (thread.isAlive()) {
            thread.interrupt();
            wakeUp();
            try {
                thread.join(CLOSE_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        } else {
            reader().ifPresent(this::end);
        }
    }
}
