package dev.millrace.engine.view;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongPredicate;
import org.apache.arrow.memory.BufferAllocator;
import org.jspecify.annotations.Nullable;

/**
 * Those that follow a view's changes and read the rest of it where it is: the indexes by which they do, each kept once and as long
 * as somebody follows by it, and which version each epoch became, from the oldest on that one of them is at. Safe on any thread.
 */
public final class Followers {
    /** An epoch whose rows, and all before, are there from a version on, and no others before the next. */
    record Moment(long epoch, long version) {}

    private final VersionedView view;
    private final ViewIndexes indexes;
    private final Pins pins;
    private final Map<JoinColumns, Integer> users = new HashMap<>(); // of each index; guarded by the view's lock
    private final Queue<Runnable> leaving = new ConcurrentLinkedQueue<>();

    @GuardedBy("this") private final ArrayDeque<Moment> moments = new ArrayDeque<>();

    @GuardedBy("this") private final List<FollowedRows> all = new ArrayList<>();

    @GuardedBy("this") private final List<FollowedRows> prepared = new ArrayList<>(); // to go on elsewhere

    @GuardedBy("this") private long lastEpoch = Long.MIN_VALUE; // that was published

    @GuardedBy("this") private long lastVersion; // which it became

    @GuardedBy("this") private OptionalLong end = OptionalLong.empty(); // the epoch after which no rows come any more

    @GuardedBy("this") private Optional<VersionedView> successor = Optional.empty();

    @GuardedBy("this") private long last; // the version that the successor began with

    Followers(VersionedView view, ViewIndexes indexes, Pins pins) {
        this.view = view;
        this.indexes = indexes;
        this.pins = pins;
    }

    /**
     * The rows for a reader that gets all changes from {@link FollowedRows#begin} on, found by a key that any number of them may share.
     * The index is made now, if there is none.
     *
     * @param key columns whose types {@link KeyColumns#suits}
     * @param allocator for what the reader needs to look rows up; closed by whoever made it, after the reader
     * @param onPublished told, on any thread, that there is something to move on to
     * @throws dev.millrace.error.MillraceException if the caller's interrupt is stopped, or the view is gone
     * @throws org.apache.arrow.memory.OutOfMemoryException and nothing was changed
     */
    public FollowedRows follow(List<Integer> key, BufferAllocator allocator, Runnable onPublished) {
        return new FollowedRows(view, new JoinColumns(key), allocator, onPublished);
    }

    /** What is current is what an epoch, with all before it, made; by who publishes. */
    public void published(long epoch) {
        if (view.isClosed()) {
            return; // what was staged may be gone
        }
        List<FollowedRows> told;
        synchronized (this) {
            lastEpoch = epoch;
            lastVersion = view.current().getAsLong();
            if (all.isEmpty()) {
                moments.clear();
                return;
            }
            moments.add(new Moment(epoch, lastVersion));
            forget();
            told = List.copyOf(all);
        }
        told.forEach(FollowedRows::published);
    }

    /** No epoch after this one has rows, and none is published for their sake. */
    public void ended(long epoch) {
        List<FollowedRows> told;
        synchronized (this) {
            end = OptionalLong.of(epoch);
            told = List.copyOf(all);
        }
        told.forEach(FollowedRows::published);
    }

    @GuardedBy("this") private void forget() {
        long oldest = pins.oldestFollowed(view.current().getAsLong());
        while (!moments.isEmpty() && moments.peek().version() <= oldest) {
            moments.remove();
        }
    }

    /**
     * Makes what those that follow need to go on in a view that has the same rows; while nothing is published. The rows of both stay as they
     * are until {@link #handOver} or {@link #giveUpHandOver}.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException and nothing was changed
     */
    public void prepareHandOver(VersionedView next) {
        List<FollowedRows> told;
        synchronized (this) {
            told = new ArrayList<>(all);
            told.removeAll(prepared);
        }
        try {
            told.forEach(follower -> follower.goOnIn(next)); // makes indexes, which no reader is to wait for
        } catch (RuntimeException | Error e) {
            told.forEach(follower -> follower.stayOutOf(next));
            throw e;
        }
        synchronized (this) {
            prepared.addAll(told);
        }
    }

    /** They stay here after all. */
    public void giveUpHandOver(VersionedView next) {
        List<FollowedRows> told;
        synchronized (this) {
            told = List.copyOf(prepared);
            prepared.clear();
        }
        told.forEach(follower -> follower.stayOutOf(next));
    }

    /**
     * Has those that follow go on in a view that takes the place of this one, and for which they were prepared; while nothing is published.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException if more follow by now, and this one must not be given up
     */
    public void handOver(VersionedView next) {
        prepareHandOver(next);
        List<FollowedRows> told;
        synchronized (this) {
            told = List.copyOf(prepared);
            prepared.clear();
            last = view.current().getAsLong();
            successor = Optional.of(next);
        }
        told.forEach(FollowedRows::published);
    }

    // ---- for one of them -------------------------------------------------------------------------------------------

    /** The index by a key, for one user more. */
    KeyLists take(JoinColumns key) {
        view.look(() -> users.merge(key, 1, Integer::sum));
        try {
            KeyLists index = (KeyLists) indexes.get(key);
            view.locked(() -> {}); // which counts its bytes
            return index;
        } catch (RuntimeException | Error e) {
            release(key);
            throw e;
        }
    }

    /** One user less of the index by a key, which goes with the last. */
    private void release(JoinColumns key) {
        view.locked(() -> {
            if (users.merge(key, -1, (a, b) -> a + b == 0 ? null : a + b) == null) {
                indexes.remove(key);
            }
        });
    }

    /** Holds the version that is current for one who follows from now on. */
    long begin(FollowedRows follower) {
        long version = pins.follow(view.current());
        synchronized (this) {
            all.add(follower);
        }
        if (view.isFreed()) { // before the version was held
            end(follower, version);
            throw VersionedView.gone();
        }
        return version;
    }

    /** Lets a version go for good. */
    void end(FollowedRows follower, long version) {
        synchronized (this) {
            all.remove(follower);
        }
        pins.unfollow(version);
    }

    /**
     * Lets one go: now, or soon where somebody holds a lock, who may wait for memory that the one has who is to go. Its version is not
     * held any more when this returns.
     */
    void leave(FollowedRows follower, JoinColumns key, boolean begun, long version) {
        if (begun) {
            pins.unfollow(version);
        }
        leaving.add(() -> {
            synchronized (this) {
                all.remove(follower);
            }
            release(key);
            view.reclaim();
        });
        if (!view.tryLook(this::letGo)) {
            CompletableFuture.runAsync(this::letGo);
        }
    }

    private void letGo() {
        for (Runnable next = leaving.poll(); next != null; next = leaving.poll()) {
            next.run();
        }
    }

    /**
     * The last moment of an epoch, or of one before, and after a version; where all that ever comes is shown, and the epoch is past it,
     * that as of this epoch.
     */
    synchronized Optional<Moment> newest(long version, long epoch, LongPredicate allowed) {
        if (end.isPresent() && Math.min(epoch, lastEpoch) >= end.getAsLong()) {
            return Optional.of(new Moment(epoch, Math.max(version, lastVersion)));
        }
        @Nullable Moment newest = null;
        for (Moment moment : moments) {
            if (moment.epoch() > epoch) {
                break;
            }
            newest = moment.version() > version && allowed.test(moment.epoch()) ? moment : newest;
        }
        return Optional.ofNullable(newest);
    }

    /** Holds a later version instead of one. */
    void move(long from, long to) {
        if (pins.move(from, to)) {
            synchronized (this) {
                forget();
            }
            view.reclaim();
        }
    }

    /** Whether who is at a version goes on elsewhere. */
    synchronized boolean isOver(long version) {
        return successor.isPresent() && version >= last;
    }
}
