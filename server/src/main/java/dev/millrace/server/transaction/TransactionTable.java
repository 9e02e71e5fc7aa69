package dev.millrace.server.transaction;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.epoch.Accepted;
import dev.millrace.server.rows.RowCopier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** A table as one transaction sees and changes it: its own changes over the committed rows. */
final class TransactionTable implements ChangedTable, AutoCloseable {
    private final Transaction transaction;
    private final TableKeys keys;
    private final RowLocks locks;
    private final int[] allColumns;
    private final Map<String, Optional<Row>> changed = new HashMap<>(); // no row: there is none any more
    private final Map<String, Integer> uniques = new HashMap<>(); // how much more often values are there
    private final Map<String, Integer> references = new HashMap<>(); // the same of values of foreign keys
    private final List<Runnable> undo = new ArrayList<>(); // what takes each change back
    private final List<Batch> kept = new ArrayList<>();
    private long mostBytes;

    private record Row(Batch batch, int row) {}

    TransactionTable(Transaction transaction, TableKeys keys, RowLocks locks) {
        this.transaction = transaction;
        this.keys = keys;
        this.locks = locks;
        this.allColumns = IntStream.range(0, keys.schema().size()).toArray();
    }

    /** How much the transaction may hold back from now on. */
    void allow(long newMostBytes) {
        mostBytes = newMostBytes;
    }

    @Override
    public TableKeys keys() {
        return keys;
    }

    /** What this knows of a table that is another by now is of no use. */
    void requireThere() {
        keys.requireThere();
    }

    @Override
    public boolean contains(String key) {
        Optional<Row> own = changed.get(key);
        return own == null ? keys.contains(key) : own.isPresent();
    }

    @Override
    public void copy(String key, RowCopier into, long weight) {
        Optional<Row> own = changed.get(key);
        if (own == null) {
            keys.copy(key, into, weight);
        } else {
            into.copy(own.orElseThrow().batch(), allColumns, own.orElseThrow().row(), weight);
        }
    }

    @Override
    public void claim(Collection<String> claimed) {
        locks.claim(keys, claimed, Optional.of(transaction));
    }

    @Override
    public void claimAll() {
        claim(List.of(RowLocks.ALL_ROWS));
    }

    @Override
    public boolean references(String foreignKey, String text) {
        String counted = ValueCounts.of(foreignKey, text);
        return keys.references().count(counted) + references.getOrDefault(counted, 0) > 0;
    }

    @Override
    public boolean containsUnique(String text) {
        return keys.uniques().count(text) + uniques.getOrDefault(text, 0) > 0;
    }

    @Override
    public void write(List<Batch> rows) {
        if (!keys.hasKey()) {
            locks.hold(keys, transaction);
        }
        Map<String, Integer> values = keys.references().changes(rows);
        Map<String, Integer> changes = keys.uniques().changes(rows);
        try {
            if (!changes.isEmpty()) {
                claim(changes.keySet());
            }
            changes.forEach((text, change) -> {
                int before = keys.uniques().count(text) + uniques.getOrDefault(text, 0);
                if (change > 0 && before + change > 1) {
                    throw keys.uniques().duplicate(text, rows);
                }
            });
        } catch (RuntimeException e) {
            Closing.all(rows);
            throw e;
        }
        transaction.write(keys, rows, mostBytes);
        count(uniques, changes);
        count(references, values);
    }

    private void count(Map<String, Integer> all, Map<String, Integer> changes) {
        if (!changes.isEmpty()) {
            changes.forEach((text, change) -> all.merge(text, change, Integer::sum));
            undo.add(() -> changes.forEach((text, change) -> all.merge(text, -change, Integer::sum)));
        }
    }

    @Override
    public void put(Batch batch, Iterable<Map.Entry<String, Integer>> rows) {
        kept.add(batch.retain());
        rows.forEach(row -> change(row.getKey(), Optional.of(new Row(batch, row.getValue()))));
    }

    @Override
    public void remove(String key) {
        change(key, Optional.empty());
    }

    private void change(String key, Optional<Row> row) {
        Optional<Optional<Row>> before = Optional.ofNullable(changed.put(key, row));
        undo.add(() -> before.ifPresentOrElse(was -> changed.put(key, was), () -> changed.remove(key)));
    }

    int mark() {
        return undo.size();
    }

    void backTo(int mark) {
        for (int i = undo.size() - 1; i >= mark; i--) {
            undo.remove(i).run();
        }
    }

    /** Makes room for what {@link #committed} makes known, which cannot fail then. With the table's lock held. */
    void prepare() {
        keys.reserve(keys.hasKey() ? changed.size() : 0);
    }

    /** The rows took effect: makes the current ones known to all. With the table's lock held. */
    void committed(Accepted accepted) {
        keys.wrote(accepted.epoch());
        keys.tells(accepted);
        keys.uniques().apply(uniques);
        keys.references().apply(references);
        Map<Batch, Map<String, Integer>> current = new LinkedHashMap<>();
        changed.forEach((key, row) -> {
            if (row.isEmpty()) {
                keys.remove(key);
            } else {
                current.computeIfAbsent(row.get().batch(), batch -> new LinkedHashMap<>())
                        .put(key, row.get().row());
            }
        });
        current.forEach((batch, rows) -> keys.put(batch, rows.entrySet()));
    }

    @Override
    public void close() {
        changed.clear();
        uniques.clear();
        references.clear();
        undo.clear();
        Closing.all(kept);
        kept.clear();
    }
}
