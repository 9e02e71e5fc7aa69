package dev.millrace.engine.view;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Closing;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.engine.view.Followers.Moment;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import dev.millrace.type.Field;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * The rows of a view as one reader has them that gets its changes: as of an epoch that the reader has passed, and the view shows.
 * What changed since, the reader keeps itself. Rows are found by a key, by an index that all have who follow by it; they stay where
 * they are until the reader moves on, and are read there without a lock.
 *
 * <pre>
 *   rows as the reader knows them = the view at the version it is at + the changes of epochs that came after that
 * </pre>
 *
 * A version that somebody is at is never given up. A reader holds the rows that died since then: no more than the changes that wait for
 * it, whose number is bounded where they wait. For one thread at a time, but for what says otherwise.
 */
public final class FollowedRows implements AutoCloseable {
    private static final int TOGETHER = 64; // keys that are looked up under one hold of the lock

    /** A view that is followed, since the table may be altered. */
    private static final class Place {
        private final VersionedView view;
        private final KeyLists index;
        private final RowCodec codec; // to decode, which keeps no memory
        private final KeyHash key;
        private boolean begun;
        private long version; // once it has begun

        private Place(VersionedView view, JoinColumns key) {
            this.view = view;
            this.codec = view.newCodec();
            this.index = view.followers().take(key);
            this.key = new KeyHash(key.columns(), codec);
        }

        private void begin(FollowedRows rows) {
            version = view.followers().begin(rows);
            begun = true;
        }

        /** Lets it go, with the index. */
        private void leave(FollowedRows rows, JoinColumns by) {
            view.followers().leave(rows, by, begun, version);
        }
    }

    private final JoinColumns by;
    private final List<Integer> key;
    private final BufferAllocator allocator;
    private final Runnable onPublished;
    private final FoundRows found;
    private final int[] ends = new int[TOGETHER];
    private Place place;

    @GuardedBy("next") private final ArrayDeque<Place> next = new ArrayDeque<>();

    private List<ArrowBuf> probe = List.of();
    private Optional<ViewScan> scan = Optional.empty();

    @GuardedBy("next") private boolean closed;

    FollowedRows(VersionedView view, JoinColumns by, BufferAllocator allocator, Runnable onPublished) {
        this.by = by;
        this.key = by.columns();
        this.allocator = allocator;
        this.onPublished = onPublished;
        this.found = new FoundRows(allocator);
        try {
            this.place = new Place(view, by);
        } catch (RuntimeException | Error e) {
            found.close();
            throw e;
        }
    }

    /** Takes what is current for what the reader knows: what it is told from now on comes after it. Any thread, before the reader runs. */
    public void begin() {
        place.begin(this);
    }

    void published() {
        onPublished.run();
    }

    /** Another view has the same rows, and will have all that come; any thread, while nothing is published. */
    void goOnIn(VersionedView view) {
        Place after = new Place(view, by);
        boolean stays = false;
        try {
            after.begin(this);
            synchronized (next) {
                if (!closed) { // else the reader stopped meanwhile, and nobody would let it go
                    next.add(after);
                    stays = true;
                }
            }
        } finally {
            if (!stays) {
                after.leave(this, by);
            }
        }
    }

    /** The other view does not take this one's place after all. */
    void stayOutOf(VersionedView view) {
        synchronized (next) {
            next.removeIf(after -> {
                boolean isThat = after.view == view;
                if (isThat) {
                    after.leave(this, by);
                }
                return isThat;
            });
        }
    }

    /**
     * The reader has passed the end of an epoch: moves on to the newest that the view shows, up to that one.
     *
     * @param allowed whether the reader may be at an epoch: a reader that was told of the changes of several epochs together must
     *     not be between them
     * @return the epoch up to which changes are in the rows now; {@link Long#MIN_VALUE} if it did not move
     */
    public long advance(long epoch, LongPredicate allowed) {
        long reached = Long.MIN_VALUE;
        while (true) {
            Optional<Moment> moment = place.view.followers().newest(place.version, epoch, allowed);
            if (moment.isPresent()) {
                place.view.followers().move(place.version, moment.get().version());
                place.version = moment.get().version();
                reached = moment.get().epoch();
            }
            if (!place.view.followers().isOver(place.version)) {
                return reached;
            }
            place.leave(this, by);
            synchronized (next) {
                place = next.remove();
            }
            closeProbe();
        }
    }

    // ---- to look up ------------------------------------------------------------------------------------------------

    /** How many keys can be looked up at a time. */
    public int most() {
        return TOGETHER;
    }

    /**
     * Finds the rows with the keys that some rows of a codec have; none for those with a NULL among them.
     *
     * @param columns of the codec, in the order of the key; of types that lie in rows as those of the key do
     * @param keys their addresses, from {@code from} on
     * @param count at most {@link #most}
     */
    public void find(RowCodec codec, List<Integer> columns, long[] keys, int from, int count) {
        place.view.look(() -> {
            found.beginInPlace(place.version);
            for (int i = 0; i < count; i++) {
                long row = keys[from + i];
                if (setProbe(codec, columns, row)) {
                    place.index.find(probe.get(0).memoryAddress(), found);
                }
                ends[i] = found.count();
            }
        });
    }

    /** Where the rows of the i-th key end among those found. */
    public int end(int i) {
        return ends[i];
    }

    /** A row that was found; it stays until the reader moves on. */
    public long row(int i) {
        return found.place(i);
    }

    public static long weight(long row) {
        return RowVersions.weight(row);
    }

    private boolean setProbe(RowCodec codec, List<Integer> columns, long row) {
        long bytes = place.codec.fixedBytes();
        for (int i = 0; i < columns.size(); i++) {
            int column = columns.get(i);
            if (RowCodec.isNull(row, column)) {
                return false;
            }
            bytes += kind(i) == SlotKind.BYTES ? Memory.getInt(row + codec.slot(column) + 4) : 0;
        }
        long to = reserve(bytes);
        int end = place.codec.fixedBytes();
        for (int i = 0; i < columns.size(); i++) {
            long from = row + codec.slot(columns.get(i));
            long slot = to + place.codec.slot(key.get(i));
            if (kind(i) == SlotKind.BYTES) {
                int length = Memory.getInt(from + 4);
                Memory.copy(row + Memory.getInt(from), to + end, length);
                Memory.putInt(slot, end);
                Memory.putInt(slot + 4, length);
                end += length;
            } else {
                Memory.putLong(slot, Memory.getLong(from));
                if (kind(i) == SlotKind.WIDE) {
                    Memory.putLong(slot + 8, Memory.getLong(from + 8));
                }
            }
        }
        return true;
    }

    private SlotKind kind(int keyColumn) {
        return SlotKind.of(place.codec.type(key.get(keyColumn)));
    }

    private long reserve(long bytes) {
        if (probe.isEmpty() || probe.get(0).capacity() < bytes) {
            closeProbe();
            ArrowBuf larger = allocator.buffer(2 * bytes);
            probe = List.of(larger);
            Memory.fill(larger.memoryAddress(), place.codec.fixedBytes(), (byte) 0); // nothing is NULL
        }
        return probe.get(0).memoryAddress();
    }

    private void closeProbe() {
        List<ArrowBuf> old = probe;
        probe = List.of();
        Closing.all(old);
    }

    // ---- to read ---------------------------------------------------------------------------------------------------

    /** A column of the view, of rows that were found, as a vector. */
    public FieldVector decode(int column, Field field, long[] rows, int count, BufferAllocator target) {
        return place.codec.decode(column, field, rows, count, target);
    }

    /** How the rows lie in memory. */
    public RowCodec codec() {
        return place.codec;
    }

    /** The key group that exchanges by some of the key's columns send a row to; -1 if one is NULL. */
    public int group(long row, List<Integer> columns) {
        KeyHash by = columns.equals(key) ? place.key : new KeyHash(columns, place.codec);
        return by.hasNull(row) ? -1 : KeyGroups.of(by.hash(row));
    }

    /** The next of all rows, from the first on after the end; returns how many, 0 at the end. The reader must not move on between. */
    public int next(long[] rows) {
        ViewScan open = scan.orElseGet(() -> place.view.scanAt(place.version));
        scan = Optional.of(open);
        int count = place.view.collect(open, rows);
        if (count == 0) {
            closeScan();
        }
        return count;
    }

    private void closeScan() {
        Optional<ViewScan> old = scan;
        scan = Optional.empty();
        old.ifPresent(ViewScan::close);
    }

    /** Lets the view go; once the reader has stopped. */
    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>();
        synchronized (next) {
            if (closed) {
                return;
            }
            closed = true;
            next.forEach(after -> all.add(() -> after.leave(this, by)));
            next.clear();
        }
        all.add(this::closeScan);
        all.add(this::closeProbe);
        all.add(found);
        all.add(() -> place.leave(this, by));
        Closing.all(all);
    }
}
