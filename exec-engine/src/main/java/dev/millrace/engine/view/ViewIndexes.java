package dev.millrace.engine.view;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.interrupt.Interrupt;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The indexes of a view. One is made while rows are written and read: it is told of what comes and goes, and gets the rows that
 * are there some at a time. Safe on any thread.
 */
final class ViewIndexes {
    private static final int TOGETHER = 128;
    private static final long LET_IN_NANOS = 50_000;

    private final ReentrantLock lock; // the view's
    private final RowVersions rows; // guarded by it
    private final BufferAllocator allocator;
    private final ReentrantLock making = new ReentrantLock(); // held by who makes an index; taken before the view's
    private volatile Map<IndexKey, RowIndex> made = Map.of(); // replaced under the view's lock, read by all
    private volatile boolean closed; // written under the view's lock

    ViewIndexes(ReentrantLock lock, RowVersions rows, BufferAllocator allocator) {
        this.lock = lock;
        this.rows = rows;
        this.allocator = allocator;
    }

    /**
     * The index for a key; made by the caller if there is none, or by who is at it already.
     *
     * @throws dev.millrace.error.MillraceException if the caller's interrupt is stopped, or the view is gone
     */
    RowIndex get(IndexKey key, Supplier<RowCodec> codec) {
        RowIndex there = made.get(key);
        if (there != null) {
            return there;
        }
        awaitMaking();
        try {
            RowIndex meanwhile = made.get(key);
            return meanwhile == null ? make(key, codec.get()) : meanwhile;
        } finally {
            making.unlock();
        }
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
        while (more) {
            interrupt.check();
            lock.lock();
            try {
                requireOpen();
                filling.next = filling.next == 0 ? 0 : rows.addTo(index, filling.next, TOGETHER);
                more = filling.next != 0;
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

    /** With the view's lock held: begins a scan of an index; false if it was dropped meanwhile. */
    boolean open(IndexScan scan) {
        if (!has(scan.index())) {
            return false;
        }
        scan.index().open(scan);
        return true;
    }

    /** With the view's lock held. */
    void close(IndexScan scan) {
        if (scan.index().close(scan)) {
            rows.remove(scan.index());
        }
    }

    /** With the view's lock held: nobody finds the index for a key any more; it goes when nobody reads it. */
    void drop(IndexKey key) {
        Map<IndexKey, RowIndex> fewer = new HashMap<>(made);
        RowIndex index = fewer.remove(key);
        made = Map.copyOf(fewer);
        boolean unused = !(index instanceof OrderedIndex ordered) || ordered.drop();
        if (index != null && unused) {
            rows.remove(index);
        }
    }

    /** With the view's lock held: all rows are about to be freed. */
    void close() {
        closed = true;
        made = Map.of();
    }
}
