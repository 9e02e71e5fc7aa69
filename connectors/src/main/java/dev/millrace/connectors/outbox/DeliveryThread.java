package dev.millrace.connectors.outbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connectors.split.Backoff;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.time.Clock;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The thread {@code millrace-outbox-NAME}: takes parcels to the outside, one after the other, and tries again what the outside did not take. Safe on any
 * thread.
 *
 * <pre>
 *   in doubt --lastDelivered--> sure --deliver--> sure
 *      ^                         |
 *      +-------- failed ---------+      any failure but the outside's: over
 * </pre>
 */
public final class DeliveryThread implements AutoCloseable {
    private static final long FIRST_WAIT_MILLIS = 100;
    private static final long MOST_WAIT_MILLIS = 30_000;
    private static final long PATIENCE_MILLIS = 2_000;

    private final Delivery delivery;
    private final Clock clock;
    private final Thread thread;
    private final Backoff backoff;
    private final int mostTogether; // parcels
    private final long missing; // the greatest number whose records are gone, as the outside must have them

    @GuardedBy("this") private final Deque<Parcel> ready = new ArrayDeque<>();

    @GuardedBy("this") private long newest; // that the outside can have

    @GuardedBy("this") private boolean closed;

    @GuardedBy("this") private Optional<MillraceException> failure = Optional.empty(); // for good

    @GuardedBy("this") private Optional<String> lastError = Optional.empty();

    @GuardedBy("this") private boolean waits; // to try again

    @GuardedBy("this") private long records; // delivered

    @GuardedBy("this") private long progressNanos;

    private boolean inDoubt; // the thread's, once it runs

    /**
     * @param delivery closed by the thread
     * @param mostTogether parcels that are delivered in one step at most, under the number of the last
     * @param inDoubt whether the outside may have some of what is to be delivered
     * @param newest the greatest number that was given so far: what is delivered later has greater ones
     * @param missing the greatest one whose records are not here any more, so that the outside must have them; 0 for none
     */
    public DeliveryThread(
            String name, Delivery delivery, Clock clock, int mostTogether, boolean inDoubt, long newest, long missing) {
        this.delivery = delivery;
        this.clock = clock;
        this.mostTogether = mostTogether;
        this.inDoubt = inDoubt;
        this.newest = newest;
        this.missing = missing;
        this.progressNanos = clock.nanoTime();
        this.backoff = new Backoff(FIRST_WAIT_MILLIS, MOST_WAIT_MILLIS, name.hashCode() + clock.nanoTime());
        this.thread = new Thread(this::run, "millrace-outbox-" + name);
        this.thread.setDaemon(true);
    }

    /** Begins; not before all is added that waits from before. */
    public void start() {
        thread.start();
    }

    /** These are to be delivered, in this order, behind those before. */
    public synchronized void add(Collection<? extends Parcel> parcels) {
        if (ready.isEmpty()) {
            progressNanos = clock.nanoTime();
        }
        ready.addAll(parcels);
        parcels.forEach(parcel -> newest = Math.max(newest, parcel.number()));
        notifyAll();
    }

    /** @throws MillraceException why nothing is delivered any more, if that is so */
    public synchronized void requireNoFailure() {
        failure.ifPresent(why -> {
            throw why.again();
        });
    }

    private void run() {
        try (delivery) {
            while (true) {
                try {
                    if (!deliverNext()) {
                        return;
                    }
                } catch (MillraceException e) {
                    if (!failed(e)) {
                        return;
                    }
                }
            }
        } catch (RuntimeException | Error e) {
            over(
                    e instanceof MillraceException known
                            ? known
                            : MillraceException.internal("a delivery failed: " + e, e));
        }
    }

    /** Waits for something to be delivered, and does so; false when it is closed. */
    private boolean deliverNext() {
        List<Parcel> next = new ArrayList<>();
        synchronized (this) {
            while (!closed && ready.isEmpty() && !inDoubt) {
                if (!await(0)) {
                    return false;
                }
            }
            if (closed) {
                return false;
            }
        }
        if (inDoubt) {
            has(delivery.lastDelivered());
            inDoubt = false;
            succeeded();
            return true;
        }
        synchronized (this) {
            ready.stream().limit(mostTogether).forEach(next::add);
        }
        delivery.deliver(next.get(next.size() - 1).number(), together(next));
        succeeded();
        next.forEach(this::delivered);
        return true;
    }

    private static Delivery.Records together(List<Parcel> parcels) {
        if (parcels.size() == 1) {
            return parcels.get(0).records();
        }
        List<Delivery.Records> all = parcels.stream().map(Parcel::records).toList();
        return new Delivery.Records() {
            @Override
            public long count() {
                return all.stream().mapToLong(Delivery.Records::count).sum();
            }

            @Override
            public void forEach(Consumer<ByteBuffer> record) {
                all.forEach(each -> each.forEach(record));
            }
        };
    }

    /** The outside has all up to this. */
    private void has(long last) {
        long most;
        synchronized (this) {
            most = newest;
        }
        if (last > most) {
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "the outside has rows of checkpoint " + last + ", and the database is at " + most
                                    + ": it is an older copy of the one that wrote them")
                    .withHint("DROP what writes there and CREATE it again: what comes from then on is written once");
        }
        if (last < missing) {
            throw MillraceException.external(
                            SqlState.DATA_CORRUPTED,
                            "records of checkpoint " + missing + " are gone, and the outside has those up to " + last)
                    .withHint("put the data directory back from a copy; or DROP what writes there and CREATE it again");
        }
        while (true) {
            Optional<Parcel> there;
            synchronized (this) {
                there = Optional.ofNullable(ready.peek()).filter(parcel -> parcel.number() <= last);
            }
            if (there.isEmpty()) {
                return;
            }
            delivered(there.get());
        }
    }

    private void delivered(Parcel parcel) {
        synchronized (this) {
            ready.remove();
            records += parcel.records().count();
            progressNanos = clock.nanoTime();
        }
        parcel.delivered();
    }

    private void succeeded() {
        backoff.succeeded();
        synchronized (this) {
            waits = false;
            lastError = Optional.empty();
        }
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
        inDoubt = true;
        long millis = backoff.nextMillis();
        synchronized (this) {
            waits = true;
            lastError = Optional.of(why.getMessage());
            return !closed && await(millis) && !closed;
        }
    }

    private synchronized void over(MillraceException why) {
        if (failure.isEmpty() && !closed) {
            failure = Optional.of(why);
            lastError = Optional.of(why.getMessage());
        }
    }

    /** Waits for so long, 0 for any time, or until told; false if the thread was interrupted, as it is when it is closed. */
    @GuardedBy("this") private boolean await(long millis) {
        try {
            wait(millis);
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    /**
     * How it is.
     *
     * @param records that were delivered since it began
     * @param waiting parcels
     * @param silentMicros since something was delivered, while something waits
     */
    public record State(
            long records, long waiting, long silentMicros, Optional<String> lastError, boolean waitsForOutside) {}

    public synchronized State state() {
        long silent = ready.isEmpty() ? 0 : TimeUnit.NANOSECONDS.toMicros(clock.nanoTime() - progressNanos);
        return new State(records, ready.size(), silent, lastError, waits);
    }

    /** Has the thread let go of the outside; waits some seconds for that. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
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
