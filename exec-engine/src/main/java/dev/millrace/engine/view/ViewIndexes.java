package dev.millrace.engine.view;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.interrupt.Interrupt;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The indexes of a view. One is made while rows are written and read: it is told of what comes and goes, and gets the rows that
 * are there some at a time. Safe on any thread.
 */
public final class ViewIndexes {
    private static final int ADDED_TOGETHER = 128; // rows under one hold of the lock
    private static final int READ_TOGETHER = 256;
    private static final long LET_IN_NANOS = 50_000;

    private final VersionedView view;
    private final ReentrantLock lock; // the view's

    @GuardedBy("lock") private final RowVersions rows;

    private final Pins pins;
    private final BufferAllocator allocator;
    private final LongAdder touched = new LongAdder();
    private final ReentrantLock making = new ReentrantLock(); // held by who makes an index; taken before the view's
    private volatile Map<IndexKey, RowIndex> made = Map.of(); // replaced under the view's lock, read by all
    private volatile boolean closed; // written under the view's lock

    ViewIndexes(VersionedView view, ReentrantLock lock, RowVersions rows, Pins pins, BufferAllocator allocator) {
        this.view = view;
        this.pins = pins;
        this.lock = lock;
        this.rows = rows;
        this.allocator = allocator;
    }

    /**
     * The index for a key; made by the caller if there is none, or by who is at it already.
     *
     * @throws dev.millrace.error.MillraceException if the caller's interrupt is stopped, or the view is gone
     */
    RowIndex get(IndexKey key) {
        RowIndex there = made.get(key);
        if (there != null) {
            return there;
        }
        awaitMaking();
        try {
            RowIndex meanwhile = made.get(key);
            return meanwhile == null ? make(key, view.newCodec()) : meanwhile;
        } finally {
            making.unlock();
        }
    }

    /** The index for a key as {@link #get} finds it, of which the view counts the bytes by then. */
    RowIndex made(IndexKey key) {
        RowIndex index = get(key);
        view.reclaim(); // counts its bytes, and frees what it outgrew
        return index;
    }

    private void awaitMaking() {
        Interrupt interrupt = Interrupt.current();
        boolean interrupted = false;
        try {
            while (true) {
                interrupt.check();
                try {
                    if (making.tryLock(10, TimeUnit.MILLISECONDS)) {
                        return;
                    }
                } catch (InterruptedException e) {
                    interrupted = true; // what stops the caller is its interrupt
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private RowIndex make(IndexKey key, RowCodec codec) {
        view.awaitRows();
        Filling filling = new Filling();
        RowIndex index = begin(key, codec, filling);
        try {
            fill(index, filling);
            lock.lock();
            try {
                requireOpen();
                Map<IndexKey, RowIndex> more = new HashMap<>(made);
                more.put(key, index);
                made = Map.copyOf(more);
            } finally {
                lock.unlock();
            }
            return index;
        } catch (RuntimeException | Error e) {
            lock.lock();
            try {
                rows.remove(index);
                index.close();
            } finally {
                lock.unlock();
            }
            throw e;
        } finally {
            lock.lock();
            try {
                rows.remove(filling);
            } finally {
                lock.unlock();
            }
        }
    }

    /** An index that is told of what comes and goes. */
    private RowIndex begin(IndexKey key, RowCodec codec, Filling filling) {
        lock.lock();
        try {
            requireOpen(); // else there may be no allocator any more
            RowIndex index = key.newIndex(codec, allocator);
            try {
                rows.add(index);
                index.reserve(ADDED_TOGETHER); // for what comes while there is being made room for all
            } catch (RuntimeException | Error e) {
                index.close();
                throw e;
            }
            rows.open(filling);
            return index;
        } finally {
            lock.unlock();
        }
    }

    private void fill(RowIndex index, Filling filling) {
        Interrupt interrupt = Interrupt.current();
        boolean more = true;
        boolean isPrepared = false;
        while (more) {
            interrupt.check();
            lock.lock();
            try {
                requireOpen();
                isPrepared = isPrepared || index.prepare(rows.size());
                if (isPrepared) {
                    filling.next = filling.next == 0 ? 0 : rows.addTo(index, filling.next, ADDED_TOGETHER);
                    more = filling.next != 0;
                }
            } finally {
                lock.unlock();
            }
            if (more && lock.hasQueuedThreads()) {
                LockSupport.parkNanos(LET_IN_NANOS); // else the lock would be taken again before they wake up
            }
        }
    }

    private void requireOpen() {
        if (closed) {
            throw VersionedView.gone();
        }
    }

    /** Where the rows go on that an index being made does not have yet. */
    private static final class Filling implements RowCursor {
        private long next;

        @Override
        public void goOnAt(long node) {
            next = node;
        }

        @Override
        public void leaving(long node, long following) {
            if (next == node) {
                next = following;
            }
        }
    }

    Optional<RowIndex> find(IndexKey key) {
        return Optional.ofNullable(made.get(key));
    }

    boolean has(RowIndex index) {
        return made.containsValue(index);
    }

    /** Nobody finds the index for a key any more; it goes when nobody reads it. */
    void remove(IndexKey key) {
        lock.lock();
        try {
            Map<IndexKey, RowIndex> fewer = new HashMap<>(made);
            RowIndex index = fewer.remove(key);
            made = Map.copyOf(fewer);
            boolean unused = !(index instanceof OrderedIndex ordered) || ordered.drop();
            if (index != null && unused) {
                rows.remove(index);
            }
        } finally {
            lock.unlock();
        }
    }

    /** With the view's lock held: all rows are about to be freed. */
    void close() {
        closed = true;
        made = Map.of();
    }

    // ---- in an order ---------------------------------------------------------------------------------------------

    /** Makes an ordered index, unless there is one, which is kept until it is dropped; as {@link VersionedView#lookup}. */
    public void make(OrderedColumns key) {
        if (!has(key)) {
            made(key);
        }
    }

    public boolean has(OrderedColumns key) {
        return find(key).isPresent();
    }

    /** Drops an ordered index, if there is one. Its memory is free when nobody reads by it any more. */
    public void drop(OrderedColumns key) {
        view.locked(() -> remove(key));
    }

    /**
     * Begins a scan of ranges by an ordered index as of now, which the caller closes. Makes the index if there is none.
     *
     * @param ranges bounded by as many columns each, with the same bounds included; each with other values of the columns that its
     *     bounds have in common
     * @param backward whether rows come from the end of the index
     * @throws dev.millrace.error.MillraceException 42P01 if the view is gone, or as {@link VersionedView#lookup}
     */
    public IndexScan scan(OrderedColumns key, List<IndexRange> ranges, boolean backward, List<Integer> chosen) {
        while (true) {
            OrderedIndex index = (OrderedIndex) find(key).orElseGet(() -> made(key));
            Pins.Pin pin = pins.add(view.current());
            IndexScan scan;
            try {
                scan = new IndexScan(view, key, index, ranges, backward, chosen, view.newCodec(), allocator, pin);
            } catch (RuntimeException | Error e) {
                view.unpin(pin);
                throw e;
            }
            if (open(scan)) {
                return scan;
            }
            scan.close(); // the index was dropped meanwhile, or the view
        }
    }

    private boolean open(IndexScan scan) {
        lock.lock();
        try {
            if (!has(scan.index())) {
                return false;
            }
            scan.index().open(scan);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Finds the next rows that a scan sees; returns how many. */
    int collect(IndexScan scan, long[] found) {
        Interrupt interrupt = Interrupt.current();
        int count = 0;
        while (count < found.length && !scan.isEnded()) {
            interrupt.check();
            lock.lock();
            try {
                count = scan.collect(found, count, READ_TOGETHER);
            } finally {
                lock.unlock();
            }
        }
        return count;
    }

    /** Rows of all versions that scans have looked at, as far as they are closed. */
    public long rowsTouched() {
        return touched.sum();
    }

    void closed(IndexScan scan) {
        touched.add(scan.touched());
        lock.lock();
        try {
            if (!closed && scan.index().close(scan)) {
                rows.remove(scan.index());
            }
        } finally {
            lock.unlock();
        }
        view.unpin(scan.pin());
    }
}
