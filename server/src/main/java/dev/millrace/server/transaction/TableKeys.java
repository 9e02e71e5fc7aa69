package dev.millrace.server.transaction;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.sql.catalog.TableRules.Unique;
import dev.millrace.type.Schema;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The primary key of one table: where the current row of each key is, so that a second one is refused or replaces it. A
 * table without a primary key has one of these too, for its lock: who changes the table holds it from reading to writing.
 */
public final class TableKeys implements AutoCloseable {
    private final String table;
    private final Schema schema;
    private final List<Integer> key;
    private final int[] allColumns;
    private final ReentrantLock lock = new ReentrantLock();

    // What follows is read and written by who holds the lock, which callers take for as long as they change the table.
    private final Map<String, Place> places = new HashMap<>();

    private final UniqueKeys uniques;

    private long lastEpoch; // as places

    private volatile boolean gone; // written by who alters or drops the table, read by who is about to change it

    /** Which transaction holds which key. Guarded by the lock of {@link RowLocks}. */
    final Map<String, Transaction> holders = new HashMap<>();

    /** A row of a batch that is kept for as long as one of its rows is current. */
    private record Place(Kept kept, int row) {}

    private static final class Kept {
        final Batch batch;
        int current;

        Kept(Batch batch) {
            this.batch = batch;
        }
    }

    public TableKeys(String table, Schema schema, List<Integer> key, List<Unique> uniques) {
        this.uniques = new UniqueKeys(schema, uniques);
        this.table = table;
        this.schema = schema;
        this.key = key;
        this.allColumns = IntStream.range(0, schema.size()).toArray();
    }

    /** What is kept unique beside the key. */
    public UniqueKeys uniques() {
        return uniques;
    }

    public ReentrantLock lock() {
        return lock;
    }

    /** Gives the lock back; the rows of a table that was dropped meanwhile are freed by who had it. */
    public void unlock() {
        lock.unlock();
        freeIfGone();
    }

    /** Rows that are kept by their key. With the lock held, or when nobody changes the table. */
    public int rowCount() {
        return places.size();
    }

    /** @throws MillraceException 40001 if the table was altered or dropped */
    public void requireThere() {
        if (gone) {
            throw MillraceException.user(
                            SqlState.SERIALIZATION_FAILURE, "\"" + table + "\" was altered or dropped meanwhile")
                    .withHint("try the statement again, or its transaction");
        }
    }

    public boolean hasKey() {
        return !key.isEmpty();
    }

    /** The epoch of the last write, which whoever is about to change rows must see. */
    public long lastEpoch() {
        return lastEpoch;
    }

    public void wrote(long epoch) {
        lastEpoch = Math.max(lastEpoch, epoch);
    }

    /** What identifies a row, as text: each value with its length before it. */
    public String keyOf(Batch rows, int row) {
        StringBuilder text = new StringBuilder();
        for (int column : key) {
            String value = ValueText.format(rows, column, row).orElseThrow();
            text.append(value.length()).append(':').append(value);
        }
        return text.toString();
    }

    public String table() {
        return table;
    }

    Schema schema() {
        return schema;
    }

    boolean contains(String keyText) {
        return places.containsKey(keyText);
    }

    /** Adds the current row of a key to other rows. */
    void copy(String keyText, RowCopier into, long weight) {
        Place place = Objects.requireNonNull(places.get(keyText));
        into.copy(place.kept.batch, allColumns, place.row, weight);
    }

    void remove(String keyText) {
        release(places.remove(keyText));
    }

    /** Makes rows of a batch the current ones of their keys. Does not take the batch over. */
    void put(Batch batch, Iterable<Map.Entry<String, Integer>> rows) {
        Kept kept = new Kept(batch.retain());
        kept.current = 1; // this method's own hold
        for (Map.Entry<String, Integer> row : rows) {
            kept.current++;
            release(places.put(row.getKey(), new Place(kept, row.getValue())));
        }
        release(new Place(kept, 0));
    }

    /**
     * Makes all rows of a batch the current ones, of a table that has none yet. Does not take the batch over.
     *
     * @throws MillraceException 23505 for two rows of one key
     */
    public void fill(Batch batch) {
        if (hasKey()) {
            Map<String, Integer> rows = new LinkedHashMap<>();
            for (int row = 0; row < batch.rowCount(); row++) {
                if (rows.put(keyOf(batch, row), row) != null) {
                    throw duplicate(batch, row);
                }
            }
            put(batch, rows.entrySet());
        }
        Map<String, Integer> changes = uniques.changes(List.of(batch));
        changes.forEach((text, count) -> {
            if (count > 1) {
                throw uniques.duplicate(text, List.of(batch));
            }
        });
        uniques.apply(changes);
    }

    private static void release(@Nullable Place place) {
        if (place != null && --place.kept.current == 0) {
            place.kept.batch.close();
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
        if (gone && lock.tryLock()) {
            try {
                free();
            } finally {
                lock.unlock();
            }
        }
    }

    private void free() {
        places.values().forEach(TableKeys::release);
        places.clear();
    }
}
