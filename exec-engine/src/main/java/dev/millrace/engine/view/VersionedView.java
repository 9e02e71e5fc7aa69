package dev.millrace.engine.view;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.DataInput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The kept answer of a query, or the rows of a table: a Z-set that is read as of whole versions while it is written. Safe on
 * any thread.
 *
 * <p>Who writes stages rows, which may run out of memory and then changes nothing; stamps them with a version that nobody sees
 * yet, which cannot fail; and makes the version current, elsewhere, for all views of an epoch at once. Who reads rows by
 * a hash index takes no lock at all ({@link Lookups}); who reads all pins the version that is current and takes the lock for some hundred
 * rows at a time. So does who writes: neither waits long for the other.
 *
 * <p>Long because who writes, scans and looks up shares one list of rows under one lock.
 */
public final class VersionedView implements AutoCloseable {
    /** Rows that are written or looked at under one hold of the lock: some 50 microseconds. */
    private static final int TOGETHER = 256;

    /** Rows that died are kept for who still reads them, as far as they take no more than this or than those that live. */
    private static final long MOST_DEAD_BYTES = 64L << 20;

    private static final int[] ALL = {}; // rows of a batch

    private static final AtomicLong CONTENTS =
            new AtomicLong(); // of all views: no two have the same rows by the same number

    private final Schema schema;
    private final int batchRows;
    private final BufferAllocator allocator;
    private final List<DataType> types;
    private final int[] columns;
    private final long mostDeadBytes;
    private final Pins pins = new Pins();
    private final Lookups lookups = new Lookups();
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock") private final RowCodec codec;

    @GuardedBy("lock") private final RowVersions rows;

    private final ViewIndexes indexes; // which takes the lock itself

    private final Followers followers;

    @GuardedBy("lock") private int[] places = new int[0];

    @GuardedBy("lock") private boolean freed;

    @GuardedBy("lock") private long contents = CONTENTS.incrementAndGet(); // another number when rows are stamped

    @GuardedBy("lock") private long newestStamped;

    private volatile Optional<Runnable> awaitFirstRows = Optional.empty(); // until they are there
    private volatile LongSupplier current = () -> 0; // set before anything is stamped, read by all
    private volatile long rowCount; // written under the lock, read by statistics
    private volatile long bytes; // written under the lock, read by statistics
    private volatile boolean closed; // written by who alters or drops, read by those who begin to read

    /** Rows that are about to be written: made, and seen by nobody. */
    public static final class Staged {
        private long first; // node, 0 for none; the others are behind it
        private long last;
        private boolean accepted;

        /** None yet. */
        public Staged() {}

        /** They will be stamped, and not be discarded. */
        public Staged accept() {
            accepted = true;
            return this;
        }

        public boolean isAccepted() {
            return accepted;
        }
    }

    /** @param allocator closed by whoever made it, after the view */
    public VersionedView(Schema schema, int batchRows, BufferAllocator allocator) {
        this(schema, batchRows, allocator, MOST_DEAD_BYTES);
    }

    VersionedView(Schema schema, int batchRows, BufferAllocator allocator, long mostDeadBytes) {
        this.mostDeadBytes = mostDeadBytes;
        this.schema = schema;
        this.batchRows = batchRows;
        this.allocator = allocator;
        this.types = schema.fields().stream().map(Field::type).toList();
        this.codec = new RowCodec(types, false, allocator);
        this.rows = new RowVersions(allocator, lookups);
        this.indexes = new ViewIndexes(this, lock, rows, pins, allocator);
        this.followers = new Followers(this, indexes, pins);
        this.columns = IntStream.range(0, schema.size()).toArray();
    }

    /** Has who reads or indexes the rows wait until those are there that it begins with. Before anybody has it. */
    public void beginWith(Runnable await) {
        awaitFirstRows = Optional.of(await);
    }

    void awaitRows() {
        Optional<Runnable> await = awaitFirstRows;
        if (await.isPresent()) {
            await.get().run();
            awaitFirstRows = Optional.empty(); // no reader waits, or takes a lock, again
        }
    }

    /** Says which version is current. Before there are any but the first, 0. */
    public void follow(LongSupplier newCurrent) {
        current = newCurrent;
    }

    public Schema schema() {
        return schema;
    }

    /** Different rows kept. */
    public long rowCount() {
        return rowCount;
    }

    public long bytes() {
        return bytes;
    }

    /** Whether another view took this one's place, or its relation is gone. */
    public boolean isClosed() {
        return closed;
    }

    // ---- to write --------------------------------------------------------------------------------------------------

    /**
     * Makes the rows of batches, which stay the caller's, for {@link #stamp} or {@link #discard}.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException and nothing was staged
     */
    public Staged stage(List<Batch> batches) {
        Staged staged = new Staged();
        try {
            for (Batch batch : batches) {
                for (int from = 0; from < batch.rowCount(); from += TOGETHER) {
                    stage(batch, columns, ALL, from, Math.min(TOGETHER, batch.rowCount() - from), staged);
                }
            }
            return staged;
        } catch (RuntimeException | Error e) {
            discard(staged);
            throw e;
        }
    }

    /**
     * Makes some rows of a batch, behind those that were staged.
     *
     * @param of the batch's columns that are the view's
     * @param chosen the first {@code count} say which rows
     * @throws org.apache.arrow.memory.OutOfMemoryException and what is staged is to be discarded
     */
    public void stage(Batch batch, int[] of, int[] chosen, int count, Staged staged) {
        for (int from = 0; from < count; from += TOGETHER) {
            stage(batch, of, chosen, from, Math.min(TOGETHER, count - from), staged);
        }
    }

    private void stage(Batch batch, int[] of, int[] chosen, int from, int count, Staged staged) {
        long weights = batch.weightsAddress();
        List<ArrowBuf> unused;
        lock.lock();
        try {
            if (freed) {
                throw gone();
            }
            if (places.length == 0) {
                places = new int[TOGETHER];
            }
            for (int i = 0; i < count; i++) {
                places[i] = chosen == ALL ? from + i : chosen[from + i];
            }
            codec.encode(batch, of, places, count);
            for (int i = 0; i < count; i++) {
                long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * places[i]);
                long node = rows.stage(codec.address(i), codec.length(i), weight);
                if (staged.first == 0) {
                    staged.first = node;
                } else {
                    RowVersions.setStagedNext(staged.last, node);
                }
                staged.last = node;
            }
            unused = rows.takeUnused();
            bytes = rows.bytes();
        } finally {
            lock.unlock();
        }
        Closing.all(unused);
    }

    static MillraceException gone() {
        return MillraceException.user(SqlState.UNDEFINED_TABLE, "the relation was dropped meanwhile");
    }

    /** Frees rows that are not to be written after all. */
    public void discard(Staged staged) {
        lock.lock();
        try {
            while (!freed && staged.first != 0) {
                long node = staged.first;
                staged.first = RowVersions.stagedNext(node);
                rows.discard(node);
            }
            staged.first = 0;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Has staged rows take effect from a version on that is not current yet. Asks for no memory; one thread at a time, with
     * versions that grow.
     */
    public void stamp(Staged staged, long version) {
        if (staged.first != 0) {
            changes(version);
        }
        while (staged.first != 0) {
            lock.lock();
            try {
                for (int left = rows.together(TOGETHER); left > 0 && staged.first != 0; left--) {
                    long node = staged.first;
                    staged.first = freed ? 0 : RowVersions.stagedNext(node);
                    if (!freed) {
                        rows.stamp(node, version);
                    }
                }
                rowCount = rows.size();
                bytes = rows.bytes();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Before the first row is stamped with a version. */
    private void changes(long version) {
        lock.lock();
        try {
            contents = CONTENTS.incrementAndGet();
            newestStamped = version;
        } finally {
            lock.unlock();
        }
    }

    /** Adds rows, which stay the caller's, to a view that nobody else has yet. */
    public void fill(List<Batch> batches) {
        stamp(stage(batches), 0);
    }

    /** Frees rows that nobody sees any more. For who writes, once a version is current, and who has read. */
    public void reclaim() {
        boolean more = true;
        boolean tooMany = false;
        while (more) {
            if (tooMany) {
                pins.expire(current);
            }
            long horizon = lookups.oldest(pins.horizon(current));
            List<ArrowBuf> unused;
            lock.lock();
            try {
                more = !freed && (rows.reclaim(horizon, TOGETHER) | rows.freeRemoved(TOGETHER));
                unused = rows.takeUnused();
                bytes = freed ? 0 : rows.bytes();
                boolean was = tooMany;
                tooMany = !freed && rows.deadBytes() > Math.max(mostDeadBytes, bytes / 2);
                more |= tooMany && !was;
            } finally {
                lock.unlock();
            }
            Closing.all(unused);
        }
    }

    // ---- to read ---------------------------------------------------------------------------------------------------

    /** Begins a scan of some columns as of now, which the caller closes. Takes no lock that is held for long. */
    public ViewScan scan(List<Integer> chosen) {
        awaitRows();
        return new ViewScan(this, chosen, new RowCodec(types, false, allocator), batchRows, pins.add(current));
    }

    /** Finds the next rows that a scan sees; returns how many. */
    int collect(ViewScan scan, long[] found) {
        long version = scan.pin().version;
        int count = 0;
        boolean more = true;
        while (more && count < found.length) {
            lock.lock();
            try {
                if (freed) {
                    throw gone(); // before the scan began
                }
                long node = scan.isOpen() ? scan.next() : rows.open(scan);
                for (int left = 4 * TOGETHER; left > 0 && node != 0 && count < found.length; left--) {
                    long row = RowVersions.row(node);
                    if (RowVersions.isSeenAt(row, version)) {
                        found[count++] = row;
                    }
                    node = RowVersions.next(node);
                }
                scan.goOnAt(node);
                more = node != 0;
            } finally {
                lock.unlock();
            }
        }
        return count;
    }

    void closed(ViewScan scan) {
        lock.lock();
        try {
            if (!freed) {
                rows.remove(scan);
            }
        } finally {
            lock.unlock();
        }
        unpin(scan.pin());
    }

    /** Lets a version go that was read. */
    void unpin(Pins.Pin pin) {
        pins.remove(pin);
        lock.lock();
        try {
            freeIfUnused();
        } finally {
            lock.unlock();
        }
        reclaim();
    }

    /** All rows with all columns as of now, in the caller's memory; the caller closes the batches. */
    public List<Batch> snapshot(BufferAllocator target) {
        List<Batch> batches = new ArrayList<>();
        try (ViewScan scan = scan(IntStream.range(0, schema.size()).boxed().toList())) {
            for (Optional<Batch> next = scan.next(target); next.isPresent(); next = scan.next(target)) {
                batches.add(next.get());
            }
            return batches;
        } catch (RuntimeException | Error e) {
            Closing.all(batches);
            throw e;
        }
    }

    // ---- by key ----------------------------------------------------------------------------------------------------

    /**
     * A way to read rows by a key that few rows share. What it needs is made when it is first asked for, and kept as long as
     * the view; meanwhile rows are written and read.
     *
     * @throws MillraceException if the caller's interrupt is stopped; nothing was changed
     * @throws org.apache.arrow.memory.OutOfMemoryException if there is no room for the index; nothing was changed
     */
    public ViewLookup lookup(KeyColumns key) {
        RowCodec own = newCodec();
        look(lookups::open);
        return new ViewLookup(this, key, (HashIndex) indexes.made(key), own);
    }

    RowCodec newCodec() {
        return new RowCodec(types, false, allocator);
    }

    boolean has(RowIndex index) {
        return indexes.has(index);
    }

    /**
     * Runs a lookup in hash indexes that takes rows as of the version that is current; false if there were too many, or the view is
     * gone. Waits for nobody who writes.
     */
    boolean look(FoundRows found, int most, Runnable lookup) {
        int cell = lookups.begin(current);
        if (cell == Lookups.NONE) {
            return lookLocked(found, most, lookup);
        }
        try {
            if (closed) {
                return false;
            }
            found.begin(lookups.version(cell), most);
            lookup.run();
            return !found.tooMany();
        } finally {
            lookups.end(cell);
            if (closed) { // meanwhile, and left to who was under way
                locked(() -> {});
            }
        }
    }

    private boolean lookLocked(FoundRows found, int most, Runnable lookup) {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            found.begin(current.getAsLong(), most);
            lookup.run();
            return !found.tooMany();
        } finally {
            lock.unlock();
        }
    }

    /** The indexes, for who reads by an order, or says which there are. */
    public ViewIndexes indexes() {
        return indexes;
    }

    // ---- by who follows --------------------------------------------------------------------------------------------

    /** Those that follow the changes, and read the other rows where they are. */
    public Followers followers() {
        return followers;
    }

    LongSupplier current() {
        return current;
    }

    /** Whether the rows are gone, or are not as long as somebody holds a version. */
    boolean isFreed() {
        lock.lock();
        try {
            return freed;
        } finally {
            lock.unlock();
        }
    }

    /** Runs an action with the lock held, and frees the rows if nobody is left who reads them. */
    void locked(Runnable action) {
        lock.lock();
        try {
            action.run();
            freeIfUnused();
            bytes = freed ? 0 : rows.bytes();
        } finally {
            lock.unlock();
        }
    }

    /** Runs an action with the lock held. */
    void look(Runnable action) {
        lock.lock();
        try {
            action.run();
        } finally {
            lock.unlock();
        }
    }

    /** Runs an action with the lock held, unless somebody else has it; returns whether it did. */
    boolean tryLook(Runnable action) {
        if (!lock.tryLock()) {
            return false;
        }
        try {
            action.run();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** A scan as of a version that is held. */
    ViewScan scanAt(long version) {
        return new ViewScan(this, List.of(), newCodec(), batchRows, pins.add(() -> version));
    }

    // ---- to keep ---------------------------------------------------------------------------------------------------

    /** A scan of all rows as of now, to {@link ViewScan#save save} them. */
    public ViewScan scanToSave() {
        return scan(List.of());
    }

    /**
     * A number for the rows that a scan sees: another scan's is the same only if it sees the same rows. None while later rows are
     * about to be shown.
     */
    public OptionalLong contents(ViewScan scan) {
        lock.lock();
        try {
            return newestStamped <= scan.pin().version ? OptionalLong.of(contents) : OptionalLong.empty();
        } finally {
            lock.unlock();
        }
    }

    /** Adds rows that {@link ViewScan#save} wrote, of a view with the same types, to a view that nobody else has yet. */
    public void restore(DataInput input) throws IOException {
        long[] nodes = new long[2 * TOGETHER];
        long done = 0;
        long bytesBefore = SectionInput.bytesAhead(input);
        int count = nodes.length;
        while (count == nodes.length) {
            lock.lock(); // for some rows: epochs without rows are shown meanwhile
            try {
                if (closed) {
                    throw gone();
                }
                count = read(input, nodes);
                done += count;
                long ahead = SectionInput.bytesAhead(input);
                long bytesOfEach = Math.max(1, (bytesBefore - ahead) / Math.max(1, done));
                rows.restore(nodes, count, ahead / bytesOfEach);
                Closing.all(rows.takeUnused());
                rowCount = rows.size();
                bytes = rows.bytes();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Reads some rows; returns how many, fewer than there was room for only at the end. */
    @GuardedBy("lock") private int read(DataInput input, long[] nodes) throws IOException {
        for (int count = 0; count < nodes.length; count++) {
            long weight = input.readLong();
            int length = input.readInt();
            if (length < 0) {
                return count;
            }
            nodes[count] = rows.begin(length, weight);
            SectionInput.readBytes(input, RowVersions.row(nodes[count]), length);
        }
        return nodes.length;
    }

    /** No more is written or begun to be read. What is being read stays until it was. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            freeIfUnused();
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock") private void freeIfUnused() {
        if (closed && !freed && pins.isEmpty() && lookups.isEmpty()) {
            freed = true;
            bytes = 0;
            indexes.close();
            Closing.all(List.of(rows, codec));
        }
    }
}
