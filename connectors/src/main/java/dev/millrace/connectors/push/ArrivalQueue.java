package dev.millrace.connectors.push;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * What came and was not taken yet, by bytes no more than so many. Peers that can wait are made to ({@link #put}, {@link #offer}); of what
 * others bring some is thrown away and counted ({@link #offerOrShed}). Safe on any thread.
 */
public final class ArrivalQueue {
    private static final String BUFFER = "buffer_bytes";
    private static final long BUFFER_BYTES = 16 << 20;
    private static final long LEAST_BUFFER_BYTES = 1 << 10;
    private static final long MOST_BUFFER_BYTES = 1 << 30;

    private final long mostBytes;

    @GuardedBy("this") private final Deque<Consignment> waiting = new ArrayDeque<>();

    @GuardedBy("this") private long bytes;

    @GuardedBy("this") private long records;

    @GuardedBy("this") private long shed;

    @GuardedBy("this") private boolean closed;

    @GuardedBy("this") private boolean dropped; // and closed

    @GuardedBy("this") private boolean isReworked; // what waited is somebody's for a while

    @GuardedBy("this") private long takenNanos; // when the newest was taken, or came where nothing waited

    private volatile Runnable onArrival = () -> {}; // set before anything comes

    public ArrivalQueue(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    /** The option {@code buffer_bytes}. */
    public static long readBytes(Options options) {
        return options.integer(BUFFER, BUFFER_BYTES, LEAST_BUFFER_BYTES, MOST_BUFFER_BYTES);
    }

    public static OptionDescription description() {
        return new OptionDescription(BUFFER, "16 MB", "how much waits until the stream takes it");
    }

    /** Has somebody told when there is something where nothing was; on the thread that brings it. */
    void onArrival(Runnable then) {
        onArrival = then;
    }

    /** Takes it if there is room, waiting so long for that; false if there is none, or all is closed. One that is larger than all room has it alone. */
    public boolean offer(Consignment delivery, long waitMillis) throws InterruptedException {
        synchronized (this) {
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMillis);
            while (!closed && isFull(delivery)) {
                long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
                if (left <= 0) {
                    return false;
                }
                wait(left);
            }
            if (closed) {
                return false;
            }
            add(delivery);
        }
        onArrival.run();
        return true;
    }

    /** Takes it, waiting for room as long as it takes; false if all is closed. */
    public boolean put(Consignment delivery) throws InterruptedException {
        synchronized (this) {
            while (!closed && isFull(delivery)) {
                wait();
            }
            if (closed) {
                return false;
            }
            add(delivery);
        }
        onArrival.run();
        return true;
    }

    /** Takes it whether there is room or not: of a peer that sends no more than so much before it hears of it. */
    public void force(Consignment delivery) {
        boolean isUnwanted;
        synchronized (this) {
            isUnwanted = dropped;
            if (!closed) {
                add(delivery);
            }
        }
        if (isUnwanted) {
            delivery.receipt().dropped();
        } else {
            onArrival.run();
        }
    }

    /**
     * Makes others of those that wait, where the first has waited so long: until that is done none is taken, and what comes waits behind them.
     *
     * @param work may wait; if it fails, they are as they were
     */
    public void rework(long waitedNanos, UnaryOperator<List<Consignment>> work) {
        List<Consignment> all;
        synchronized (this) {
            if (closed || isReworked || waiting.isEmpty() || System.nanoTime() - takenNanos < waitedNanos) {
                return;
            }
            isReworked = true;
            all = List.copyOf(waiting);
            waiting.clear();
        }
        List<Consignment> others = all;
        try {
            others = work.apply(all);
        } finally {
            putBack(others);
        }
        onArrival.run();
    }

    private void putBack(List<Consignment> first) {
        boolean isUnwanted;
        synchronized (this) {
            isReworked = false;
            isUnwanted = dropped;
            List<Consignment> since = List.copyOf(waiting);
            waiting.clear();
            bytes = 0;
            records = 0;
            if (!isUnwanted) {
                first.forEach(this::add);
                since.forEach(this::add);
            }
        }
        if (isUnwanted) {
            first.forEach(each -> each.receipt().dropped());
        }
    }

    /** Takes it, or throws something away. What is thrown away must want no receipt. */
    public void offerOrShed(Consignment delivery, Overload policy) {
        synchronized (this) {
            if (closed) {
                return;
            }
            if (policy == Overload.DROP_NEWEST && isFull(delivery)) {
                shed += delivery.values().size();
                return;
            }
            while (isFull(delivery)) {
                Consignment oldest = remove();
                shed += oldest.values().size();
            }
            add(delivery);
        }
        onArrival.run();
    }

    @GuardedBy("this") private boolean isFull(Consignment another) {
        return !waiting.isEmpty() && bytes + another.bytes() > mostBytes;
    }

    @GuardedBy("this") private void add(Consignment delivery) {
        if (waiting.isEmpty()) {
            takenNanos = System.nanoTime();
        }
        waiting.add(delivery);
        bytes += delivery.bytes();
        records += delivery.values().size();
    }

    @GuardedBy("this") private Consignment remove() {
        Consignment first = waiting.remove();
        takenNanos = System.nanoTime();
        bytes -= first.bytes();
        records -= first.values().size();
        notifyAll();
        return first;
    }

    /** What came first; none if nothing waits, or it is being reworked. */
    synchronized Optional<Consignment> take() {
        return waiting.isEmpty() || isReworked ? Optional.empty() : Optional.of(remove());
    }

    /** Records that wait. */
    public synchronized long waitingRecords() {
        return records;
    }

    /** Records that were thrown away. */
    public synchronized long shed() {
        return shed;
    }

    /** Takes nothing any more: whoever brought what waits, or brings more, is told that nobody wants it. */
    void drop() {
        List<Consignment> unwanted;
        synchronized (this) {
            dropped = true;
            closed = true;
            unwanted = List.copyOf(waiting);
            waiting.clear();
            notifyAll();
        }
        unwanted.forEach(each -> each.receipt().dropped());
    }

    /** Takes nothing any more, and has nobody wait. */
    public synchronized void close() {
        closed = true;
        notifyAll();
    }
}
