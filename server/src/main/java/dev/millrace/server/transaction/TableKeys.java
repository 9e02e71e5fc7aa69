package dev.millrace.server.transaction;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.engine.epoch.Accepted;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.rows.KeyText;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.type.Schema;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.jspecify.annotations.Nullable;

/**
 * The primary key of one table: where the current row of each key is, so that a second one is refused or replaces it. A
 * table without a primary key has one of these too, for its lock: who changes the table holds it from reading to writing.
 */
public final class TableKeys implements AutoCloseable {
    private static final SecureRandom SEEDS = new SecureRandom();
    private static final int FEW = 256; // rows
    private static final int MANY_LOOSE = 256; // batches

    private final BufferAllocator allocator;
    private volatile String table; // written by who renames it, with the lock held alone; read by all
    private final Schema schema;
    private final List<Integer> key;
    private final int[] allColumns;
    private static final long MOST_WAIT_SECONDS = 10; // of who only reads

    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

    // What follows is read and written by who holds the lock alone, which callers take for as long as they change the
    // table.
    private final KeyPlaces places; // of rows, each as the number of its batch and its own

    private final List<@Nullable Kept> kept = new ArrayList<>(); // by number; null where one is free
    private final Deque<Integer> free = new ArrayDeque<>(); // numbers
    private final Set<Kept> loose = new LinkedHashSet<>(); // batches of few current rows, to be put together

    private final UniqueKeys uniques;
    private final ValueCounts references;

    private long touched; // what comes of words that were loaded ahead, which keeps the JIT from dropping the loads

    private final AtomicLong lastEpoch = new AtomicLong(); // of what anybody wrote who holds the lock

    private final ToldEpochs told = new ToldEpochs();

    private volatile boolean gone; // written by who alters or drops the table, read by who is about to change it
    private volatile boolean aside; // the same of a transaction that has not ended

    /** Which transaction holds which key. Guarded by the lock of {@link RowLocks}. */
    final Map<String, Transaction> holders = new HashMap<>();

    /** Which transactions reference which key. Guarded likewise. */
    final Map<String, Set<Transaction>> sharers = new HashMap<>();

    /** A batch that is kept for as long as one of its rows is current. */
    private static final class Kept {
        final int number;
        final Batch batch;
        int current;

        Kept(int number, Batch batch) {
            this.number = number;
            this.batch = batch;
        }

        /** A batch costs about as much as some hundred rows. */
        boolean isLoose() {
            return batch.rowCount() < FEW || current < batch.rowCount() / 4;
        }
    }

    /** @param allocator counts what is kept */
    public TableKeys(String table, Schema schema, List<Integer> key, TableRules rules, BufferAllocator allocator) {
        this.allocator = allocator;
        this.places = new KeyPlaces(allocator, SEEDS.nextLong());
        this.uniques = new UniqueKeys(schema, rules.uniques());
        Map<String, int[]> referencing = new LinkedHashMap<>();
        rules.foreignKeys()
                .forEach(each -> referencing.put(
                        each.name(),
                        each.columns().stream().mapToInt(schema::indexOf).toArray()));
        this.references = new ValueCounts(referencing);
        this.table = table;
        this.schema = schema;
        this.key = key;
        this.allColumns = IntStream.range(0, schema.size()).toArray();
    }

    /** The table has another name. With the lock held alone. */
    public void rename(String newName) {
        table = newName;
    }

    /** What is kept unique beside the key. */
    public UniqueKeys uniques() {
        return uniques;
    }

    /** What its rows reference. */
    public ValueCounts references() {
        return references;
    }

    /** Whether a key is there, by what the table knows it by ({@link ReferencedKey#known}). With the lock held. */
    public boolean hasKnown(String known) {
        return known.startsWith("u") ? uniques.count(known) > 0 : contains(known);
    }

    /** Held by who changes the table, alone, from reading to writing. */
    public Lock lock() {
        return lock.writeLock();
    }

    /** Held by who adds rows to a table that keeps no keys: others may do the same meanwhile. */
    public Lock sharedLock() {
        return lock.readLock();
    }

    /** Whether anybody waits for one of these locks. */
    public boolean isAwaited() {
        return lock.hasQueuedThreads();
    }

    /** Whether rows are added to it without a look at those that are there. */
    public boolean takesAnyRows() {
        return key.isEmpty() && uniques.isEmpty() && references.isEmpty();
    }

    /** Gives the lock back; the rows of a table that was dropped meanwhile are freed by who had it. */
    public void unlock() {
        unlock(lock());
    }

    /** The same of the lock that it was, this or the shared one. */
    public void unlock(Lock held) {
        held.unlock();
        freeIfGone();
    }

    /** Rows that are kept by their key. With the lock held, or when nobody changes the table. */
    public int rowCount() {
        return (int) places.size();
    }

    /** How many rows there are by their keys; waits for who changes the table, as {@link #has}. */
    public long count() {
        return reading(() -> gone ? 0L : places.size());
    }

    /**
     * Whether there is a row whose key is this text. Waits for who changes the table, but only some seconds. On any thread.
     *
     * @throws MillraceException 55P03 if it is changed for longer
     */
    public boolean has(String only) {
        return reading(() -> !gone && contains(only.length() + ":" + only));
    }

    private <T> T reading(Supplier<T> read) {
        boolean locked = false;
        try {
            locked = lock.readLock().tryLock(MOST_WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!locked) {
            throw MillraceException.user(
                            SqlState.LOCK_NOT_AVAILABLE,
                            "\"" + table + "\" is being changed, and cannot be looked into")
                    .withHint("try the statement again");
        }
        try {
            return read.get();
        } finally {
            unlock(lock.readLock());
        }
    }

    /** @throws MillraceException 40001 if the table was altered or dropped */
    public void requireThere() {
        if (gone || aside) {
            throw MillraceException.user(
                            SqlState.SERIALIZATION_FAILURE, "\"" + table + "\" was altered or dropped meanwhile")
                    .withHint("try the statement again, or its transaction");
        }
    }

    /** A transaction has altered or dropped the table: until it ends these are of use to nobody, and may be once more. */
    public void setAside(boolean isAside) {
        aside = isAside;
    }

    public boolean hasKey() {
        return !key.isEmpty();
    }

    /** The epoch of the last write, which whoever is about to change rows must see. */
    public long lastEpoch() {
        return lastEpoch.get();
    }

    public void wrote(long epoch) {
        lastEpoch.accumulateAndGet(epoch, Math::max);
    }

    /** A client is about to hear of rows, once their entry is on disk; at once for 0. */
    public void tells(Accepted accepted) {
        told.add(accepted);
    }

    /** The last epoch with rows that somebody may have been told are there, and that is not known to be shown; 0 if there is none. */
    public long toldEpoch(LongPredicate isOnDisk) {
        return told.last(isOnDisk);
    }

    /** The table shows the rows of all epochs up to this one, which {@link #toldEpoch} gave. */
    public void showsAllUpTo(long epoch) {
        told.isShown(epoch);
    }

    /** What identifies a row, as text: each value with its length before it. */
    public String keyOf(Batch rows, int row) {
        StringBuilder text = new StringBuilder();
        for (int column : key) {
            String value = text(rows, column, row);
            text.append(value.length()).append(':').append(value);
        }
        return text.toString();
    }

    /** What most keys are needs no formatting, which takes a microsecond. */
    private static String text(Batch rows, int column, int row) {
        FieldVector vector = rows.column(column);
        if (vector instanceof BigIntVector longs && !longs.isNull(row)) {
            return Long.toString(longs.get(row));
        } else if (vector instanceof IntVector ints && !ints.isNull(row)) {
            return Integer.toString(ints.get(row));
        }
        return KeyText.of(rows, column, row).orElseThrow();
    }

    public String table() {
        return table;
    }

    Schema schema() {
        return schema;
    }

    boolean contains(String keyText) {
        return find(keyText) != KeyPlaces.NONE;
    }

    private long find(String keyText) {
        return places.get(places.hash(keyText), is(keyText));
    }

    private KeyPlaces.Match is(String keyText) {
        return place -> keyOf(at(place).batch, row(place)).equals(keyText);
    }

    private static long place(Kept of, int row) {
        return (long) of.number << Integer.SIZE | row;
    }

    private Kept at(long place) {
        return Objects.requireNonNull(kept.get((int) (place >>> Integer.SIZE)));
    }

    private static int row(long place) {
        return (int) place;
    }

    /** Adds the current row of a key to other rows. */
    void copy(String keyText, RowCopier into, long weight) {
        long place = find(keyText);
        if (place == KeyPlaces.NONE) {
            throw new IllegalStateException("no row of " + table + " has the key " + keyText);
        }
        into.copy(at(place).batch, allColumns, row(place), weight);
    }

    void remove(String keyText) {
        release(places.remove(places.hash(keyText), is(keyText)));
    }

    /**
     * Makes room for so many keys more, before anything is changed.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException if there is none
     */
    void reserve(long more) {
        places.reserve(more);
        if (loose.size() >= MANY_LOOSE) {
            try {
                putTogether();
            } catch (OutOfMemoryException e) {
                // they stay as they are
            }
        }
    }

    /** Makes rows of a batch the current ones of their keys, for which room was reserved. Does not take the batch over. */
    void put(Batch batch, Iterable<Map.Entry<String, Integer>> rows) {
        Kept of = keep(batch.retain());
        of.current++; // this method's own hold
        for (Map.Entry<String, Integer> row : rows) {
            String key = row.getKey();
            of.current++;
            release(places.put(places.hash(key), is(key), place(of, row.getValue())));
        }
        release(of);
    }

    private Kept keep(Batch batch) {
        int number = free.isEmpty() ? kept.size() : free.remove();
        Kept of = new Kept(number, batch);
        if (number == kept.size()) {
            kept.add(of);
        } else {
            kept.set(number, of);
        }
        return of;
    }

    /** Copies the rows that are current in batches of few such into one batch. */
    private void putTogether() {
        List<Kept> old = List.copyOf(loose);
        List<Long> before = new ArrayList<>();
        int most = old.stream().mapToInt(of -> of.current).sum();
        try (RowCopier copier = new RowCopier(schema, allocator, most)) {
            for (Kept of : old) {
                for (int row = 0; row < of.batch.rowCount(); row++) {
                    long place = place(of, row);
                    if (find(keyOf(of.batch, row)) == place) {
                        copier.copy(of.batch, allColumns, row, 1);
                        before.add(place);
                    }
                }
            }
            Kept together = keep(copier.build());
            together.current = 1 + before.size(); // with this method's own hold
            for (int row = 0; row < before.size(); row++) {
                String key = keyOf(together.batch, row);
                release(places.put(places.hash(key), is(key), place(together, row)));
            }
            release(together);
        }
    }

    /**
     * Makes room at once for so many rows, by which it is going to be {@link #fill filled}.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException if there is none
     */
    public void expect(long rows) {
        if (hasKey()) {
            places.reserve(rows);
        }
    }

    /**
     * Makes all rows of a batch current ones, of a table that is being filled. Does not take the batch over.
     *
     * @throws MillraceException 23505 for two rows of one key
     */
    public void fill(Batch batch) {
        if (hasKey()) {
            places.reserve(batch.rowCount());
            Kept of = keep(batch.retain());
            of.current++; // this method's own hold
            try {
                String[] keys = new String[batch.rowCount()];
                long[] hashes = new long[keys.length];
                long loaded = 0;
                for (int row = 0; row < keys.length; row++) {
                    keys[row] = keyOf(batch, row);
                    hashes[row] = places.hash(keys[row]);
                    loaded += places.firstWord(hashes[row]); // a loop of its own: these wait for memory together
                }
                touched = loaded;
                for (int row = 0; row < keys.length; row++) {
                    if (!places.add(hashes[row], is(keys[row]), place(of, row))) {
                        throw duplicate(batch, row);
                    }
                    of.current++;
                }
            } finally {
                release(of);
            }
        }
        Map<String, Integer> changes = uniques.changes(List.of(batch));
        changes.forEach((text, count) -> {
            if (count > 1) {
                throw uniques.duplicate(text, List.of(batch));
            }
        });
        uniques.apply(changes);
        references.apply(references.changes(List.of(batch)));
    }

    private void release(long place) {
        if (place != KeyPlaces.NONE) {
            release(at(place));
        }
    }

    private void release(Kept of) {
        if (--of.current == 0) {
            kept.set(of.number, null);
            free.add(of.number);
            loose.remove(of);
            of.batch.close();
        } else if (of.isLoose()) {
            loose.add(of);
        }
    }

    public MillraceException duplicate(Batch batch, int row) {
        String names = key.stream().map(column -> schema.field(column).name()).collect(Collectors.joining(", "));
        String values = key.stream()
                .map(column -> ValueText.format(batch, column, row).orElse("null"))
                .collect(Collectors.joining(", "));
        return MillraceException.user(
                        SqlState.UNIQUE_VIOLATION,
                        "duplicate key value violates the primary key of table \"" + table + "\": (" + names + ")=("
                                + values + ")")
                .withHint("ON CONFLICT DO NOTHING keeps the row that is there");
    }

    /** The table was altered or dropped. Waits for nobody: who changes it now frees the rows. */
    @Override
    public void close() {
        gone = true;
        freeIfGone();
    }

    private void freeIfGone() {
        if (gone && lock().tryLock()) {
            try {
                free();
            } finally {
                lock().unlock();
            }
        }
    }

    private void free() {
        kept.forEach(of -> {
            if (of != null) {
                of.batch.close();
            }
        });
        kept.clear();
        free.clear();
        loose.clear();
        places.close();
    }
}
