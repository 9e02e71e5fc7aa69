package dev.millrace.engine.view;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;

/**
 * Lookups by key that are under way without the view's lock, each as of a version. Safe on any thread; nobody waits here.
 *
 * <pre>
 *   who looks up:    what is current is written to a cell of its own; is it still current? -> looks -> the cell is free again
 *   who takes away:  takes rows out of the indexes that died at the {@link #oldest} version or before; has {@link #mark} note who is at it;
 *                    frees their memory once {@link #haveEnded} says that all those are done
 * </pre>
 *
 * A lookup finds all rows of its version, since who takes rows away sees the cell, or the lookup sees that its version is not current any
 * more. The memory that it reads is there, since it either began before the mark, or after the rows were taken out.
 */
final class Lookups {
    /** What {@link #begin} says where too many are under way: there is the lock. */
    static final int NONE = -1;

    private static final int CELLS = 16;
    private static final int STRIDE = 8; // words: threads' cells are not in the same line of the cache
    private static final AtomicLongArray CLOSED = new AtomicLongArray(0);

    /** For each cell the version of who is at it plus 1, or 0; then how many were. None until there is an index. */
    private volatile AtomicLongArray cells = CLOSED; // set once, with the view's lock held

    private final long[] marked = new long[CELLS]; // guarded by the view's lock

    /** There may be lookups from now on. With the view's lock held. */
    void open() {
        if (!isOpen()) {
            cells = new AtomicLongArray(CELLS * STRIDE);
        }
    }

    boolean isOpen() {
        return cells.length() > 0;
    }

    /** Begins a lookup as of what is current; returns its cell, for {@link #end}. */
    int begin(LongSupplier current) {
        AtomicLongArray all = cells;
        int first = (int) Thread.currentThread().getId();
        for (int i = 0; i < CELLS; i++) {
            int cell = (first + i & CELLS - 1) * STRIDE;
            long version = current.getAsLong();
            if (all.getPlain(cell) == 0 && all.compareAndSet(cell, 0, version + 1)) {
                for (long now = current.getAsLong(); now != version; now = current.getAsLong()) {
                    version = now;
                    all.set(cell, version + 1);
                }
                return cell;
            }
        }
        return NONE;
    }

    /** The version that a lookup sees. */
    long version(int cell) {
        return cells.getPlain(cell) - 1;
    }

    /** What was found was copied. */
    void end(int cell) {
        AtomicLongArray all = cells;
        all.setRelease(cell + 1, all.getPlain(cell + 1) + 1);
        all.set(cell, 0);
    }

    /** The oldest version that one is at, or begins at after the given one was current; by who has seen that it is. */
    long oldest(long current) {
        AtomicLongArray all = cells;
        long oldest = current;
        for (int cell = 0; cell < all.length(); cell += STRIDE) {
            long version = all.get(cell) - 1;
            oldest = version < 0 ? oldest : Math.min(oldest, version);
        }
        return oldest;
    }

    boolean isEmpty() {
        return oldest(Long.MAX_VALUE) == Long.MAX_VALUE;
    }

    /** Notes who is under way, which is who may have found what was taken out before. With the view's lock held. */
    void mark() {
        AtomicLongArray all = cells;
        VarHandle.fullFence(); // who is not seen here sees that it was taken out
        for (int i = 0; i * STRIDE < all.length(); i++) {
            marked[i] = all.get(i * STRIDE) == 0 ? -1 : all.get(i * STRIDE + 1);
        }
    }

    /** Whether all that were marked have ended. With the view's lock held. */
    boolean haveEnded() {
        AtomicLongArray all = cells;
        for (int i = 0; i * STRIDE < all.length(); i++) {
            if (marked[i] >= 0 && all.get(i * STRIDE) != 0 && all.get(i * STRIDE + 1) == marked[i]) {
                return false;
            }
        }
        return true;
    }
}
