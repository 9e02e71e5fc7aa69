package dev.millrace.server.transaction;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.epoch.Accepted;
import dev.millrace.engine.relation.Relations;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * What one transaction changed, held back until {@link #commit} or {@link #close}. For its session's thread, but for {@code
 * close}, which any may call once that thread is done.
 *
 * <pre>
 *   changed -> mark -> changed -> backTo(mark) -> ... -> commit | close
 * </pre>
 */
public final class Transaction implements AutoCloseable {
    private final RowLocks locks;
    private final BufferAllocator allocator;
    private final Relations relations;
    private final Map<String, BufferedRows> rows = new LinkedHashMap<>();
    private final Map<String, WritableRelation> streams = new HashMap<>(); // that rows are for
    private final Map<String, TransactionTable> tables = new TreeMap<>(); // in the order in which commits lock them
    private final Map<String, Boolean> deferred =
            new HashMap<>(); // by foreign key of a table, what SET CONSTRAINTS said
    private long bytes;
    private Optional<Mark> seen = Optional.empty(); // what of the changes is seen, if not all

    final Map<TableKeys, List<String>> held = new HashMap<>(); // guarded by the lock of RowLocks, as what follows
    final Map<TableKeys, List<String>> shared = new HashMap<>(); // keys that are referenced
    volatile boolean ended;
    Optional<Transaction> waitsFor = Optional.empty();
    private long number;

    /** @param relations that its changes are of */
    public Transaction(RowLocks locks, BufferAllocator allocator, Relations relations) {
        this.locks = locks;
        this.allocator = allocator;
        this.relations = relations;
    }

    /** Which one this is of a database's. With the lock of RowLocks held. */
    long number(RowLocks of) {
        if (number == 0) {
            number = of.nextNumber();
        }
        return number;
    }

    /** A place to go back to. */
    public record Mark(
            Map<String, Integer> rows, Map<String, Integer> keys, long bytes, Map<String, Boolean> deferred) {
        /** Where the transaction began. */
        public static final Mark BEGIN = new Mark(Map.of(), Map.of(), 0, Map.of());
    }

    /**
     * Holds rows of a stream back; takes the batch over, also when it throws. They are for the stream that has the name now, whatever that is
     * called when they take effect.
     *
     * @throws MillraceException 40001 if the transaction has rows of another stream that had the name before
     */
    public synchronized void append(String stream, Schema schema, Batch batch, long mostBytes) {
        requireRoom(List.of(batch), mostBytes);
        try {
            meant(stream);
        } catch (RuntimeException | Error e) {
            batch.close();
            throw e;
        }
        buffer(stream, schema).add(batch);
    }

    private void meant(String stream) {
        WritableRelation now = relations.writable(stream);
        if (rows.containsKey(stream) && streams.get(stream) != now) {
            throw MillraceException.user(
                            SqlState.SERIALIZATION_FAILURE,
                            "\"" + RelationNames.shown(stream)
                                    + "\" is another stream than this transaction has rows of")
                    .withHint("ROLLBACK, and run the transaction again");
        }
        streams.put(stream, now);
    }

    /**
     * A table as this transaction sees and changes it.
     *
     * @throws MillraceException 40001 if it was altered or dropped since the transaction saw it first
     */
    public synchronized ChangedTable table(TableKeys keys, long mostBytes) {
        TransactionTable table = tables.computeIfAbsent(keys.table(), name -> new TransactionTable(this, keys, locks));
        table.requireThere();
        table.allow(mostBytes);
        return table;
    }

    synchronized void write(TableKeys table, List<Batch> batches, long mostBytes) {
        requireRoom(batches, mostBytes);
        batches.forEach(batch -> buffer(table.table(), table.schema()).add(batch));
    }

    private BufferedRows buffer(String name, Schema schema) {
        return rows.computeIfAbsent(name, unknown -> new BufferedRows(schema, allocator));
    }

    private void requireRoom(List<Batch> batches, long mostBytes) {
        long more = batches.stream().mapToLong(Batch::sizeInBytes).sum();
        if (ended || bytes + more > mostBytes) {
            Closing.all(batches);
            throw ended
                    ? MillraceException.user(SqlState.ADMIN_SHUTDOWN, "the session is closed")
                    : MillraceException.resources(
                                    SqlState.OUT_OF_MEMORY,
                                    "the transaction changes more than transaction_memory, which is " + mostBytes
                                            + " bytes")
                            .withHint("COMMIT in smaller parts, outside a transaction COPY takes any number of rows, or"
                                    + " SET transaction_memory");
        }
        bytes += more;
    }

    /** Whether a statement of this transaction changed a table, or might have. */
    public synchronized boolean touches(String table) {
        return tables.containsKey(table);
    }

    /** The relations that have changes. */
    public synchronized Set<String> changed() {
        return seen.map(mark -> mark.rows().entrySet().stream()
                        .filter(entry -> entry.getValue() > 0)
                        .map(Map.Entry::getKey)
                        .collect(Collectors.toSet()))
                .orElseGet(() -> Set.copyOf(rows.keySet()));
    }

    /** The relations that have changes behind a mark, in the order of their names. */
    public synchronized List<String> changedSince(Mark mark) {
        return rows.entrySet().stream()
                .filter(entry -> entry.getValue().batches().size() > mark.rows().getOrDefault(entry.getKey(), 0))
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }

    /** The changes of one relation behind a mark; they stay the transaction's. */
    public synchronized List<Batch> changesSince(Mark mark, String relation) {
        List<Batch> all = rows.containsKey(relation) ? rows.get(relation).batches() : List.of();
        return List.copyOf(all.subList(Math.min(all.size(), mark.rows().getOrDefault(relation, 0)), all.size()));
    }

    /** References keys of a table until it ends. @throws RowsHeld as {@link RowLocks#share} */
    public void share(TableKeys table, Collection<String> known) {
        locks.share(table, known, this);
    }

    /** Takes keys of a table away. @throws RowsHeld as {@link RowLocks#remove} */
    public void remove(TableKeys table, Collection<String> known) {
        locks.remove(table, known, this);
    }

    /** Says when a foreign key is checked from here on. @param key which it is, of which table */
    public synchronized void defer(String key, boolean isDeferred) {
        deferred.put(key, isDeferred);
    }

    /** What was said of it, if anything. */
    public synchronized Optional<Boolean> deferred(String key) {
        return Optional.ofNullable(deferred.get(key));
    }

    /** The changes of one relation, by their weights; they stay the transaction's. */
    public synchronized List<Batch> changes(String relation) {
        List<Batch> all = rows.containsKey(relation) ? rows.get(relation).batches() : List.of();
        return seen.map(mark -> all.subList(0, mark.rows().getOrDefault(relation, 0)))
                .orElse(all);
    }

    /** From here on {@link #changes} are those that are there now, until {@link #seeAll}: a statement of several parts. */
    public synchronized void seeNoMore() {
        seen = Optional.of(mark());
    }

    /** Later changes are seen again. */
    public synchronized void seeAll() {
        seen = Optional.empty();
    }

    public synchronized Mark mark() {
        Map<String, Integer> rowMarks = new HashMap<>();
        rows.forEach((name, buffered) -> rowMarks.put(name, buffered.mark()));
        Map<String, Integer> keyMarks = new HashMap<>();
        tables.forEach((name, table) -> keyMarks.put(name, table.mark()));
        return new Mark(rowMarks, keyMarks, bytes, Map.copyOf(deferred));
    }

    /** Changes of a table that are no part of the transaction now: the table is another, which has them. */
    public record Aside(String table, Optional<AutoCloseable> rows, Optional<AutoCloseable> keys) {
        /** Frees them. */
        public void close() {
            Closing.all(Stream.concat(keys.stream(), rows.stream()).toList());
        }
    }

    /** Takes a table's changes out, and what is known of its rows. */
    public synchronized Aside setAside(String table) {
        return new Aside(table, Optional.ofNullable(rows.remove(table)), Optional.ofNullable(tables.remove(table)));
    }

    /** The table is what it was: so are its changes. Those that came since then are undone. */
    public synchronized void putBack(Aside aside) {
        setAside(aside.table()).close();
        aside.rows().ifPresent(buffered -> rows.put(aside.table(), (BufferedRows) buffered));
        aside.keys().ifPresent(table -> tables.put(aside.table(), (TransactionTable) table));
    }

    /** Relations have other names, all at once: so have its changes of them. @param names the new ones, by those before */
    public synchronized void rename(Map<String, String> names) {
        RelationNames.rename(rows, names);
        RelationNames.rename(streams, names);
        RelationNames.rename(tables, names);
    }

    /** Undoes what came after a mark. The rows stay held. */
    public synchronized void backTo(Mark mark) {
        tables.forEach((name, table) -> table.backTo(mark.keys().getOrDefault(name, 0)));
        rows.forEach((name, buffered) -> buffered.backTo(mark.rows().getOrDefault(name, 0)));
        rows.keySet().removeIf(name -> mark.rows().getOrDefault(name, 0) == 0);
        bytes = mark.bytes();
        deferred.clear();
        deferred.putAll(mark.deferred());
    }

    /**
     * Has all changes take effect in one epoch.
     *
     * @param accept takes the rows over by their relations
     * @param waitsForDisk whether its client hears of it only when it is on disk
     * @return what became of them; empty if nothing was changed. The transaction is over, also when it throws
     */
    public synchronized Optional<Accepted> commit(
            Function<Map<WritableRelation, List<Batch>>, Accepted> accept, boolean waitsForDisk) {
        List<TransactionTable> locked = new ArrayList<>();
        try {
            for (TransactionTable table : tables.values()) {
                Interrupt.lock(table.keys().lock());
                locked.add(table);
                table.requireThere();
            }
            Map<WritableRelation, List<Batch>> all = take();
            if (all.isEmpty()) {
                return Optional.empty();
            }
            try {
                locked.forEach(TransactionTable::prepare);
            } catch (RuntimeException e) {
                all.values().forEach(Closing::all);
                throw e;
            }
            Accepted accepted = accept.apply(all);
            Accepted told = waitsForDisk ? accepted : new Accepted(accepted.epoch(), 0);
            locked.forEach(table -> table.committed(told));
            return Optional.of(accepted);
        } finally {
            locked.forEach(table -> table.keys().unlock());
            close();
        }
    }

    /** All rows, by what they are of: a stream may have had several names since the transaction began. */
    private Map<WritableRelation, List<Batch>> take() {
        Map<String, WritableRelation> targets = new LinkedHashMap<>();
        rows.forEach((name, buffered) -> {
            if (!buffered.batches().isEmpty()) {
                targets.put(name, Optional.ofNullable(streams.get(name)).orElseGet(() -> relations.writable(name)));
            }
        });
        Map<WritableRelation, List<Batch>> all = new LinkedHashMap<>();
        targets.forEach((name, target) -> {
            List<Batch> taken = Objects.requireNonNull(rows.get(name)).take();
            if (!taken.isEmpty()) {
                all.computeIfAbsent(target, first -> new ArrayList<>()).addAll(taken);
            }
        });
        return all;
    }

    /** Forgets what was not committed, and frees the rows that were held. */
    @Override
    public synchronized void close() {
        tables.values().forEach(TransactionTable::close);
        tables.clear();
        Closing.all(rows.values());
        rows.clear();
        streams.clear();
        locks.release(this);
    }
}
