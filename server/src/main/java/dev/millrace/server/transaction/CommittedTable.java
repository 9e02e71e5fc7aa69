package dev.millrace.server.transaction;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.server.rows.RowCopier;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;

/** A table whose changes take effect at once. */
public final class CommittedTable implements ChangedTable {
    private final TableKeys keys;
    private final RowLocks locks;
    private final ToLongFunction<List<Batch>> append;

    /** @param append has rows take effect, and says in which epoch */
    public CommittedTable(TableKeys keys, RowLocks locks, ToLongFunction<List<Batch>> append) {
        this.keys = keys;
        this.locks = locks;
        this.append = append;
    }

    @Override
    public TableKeys keys() {
        return keys;
    }

    @Override
    public boolean contains(String key) {
        return keys.contains(key);
    }

    @Override
    public void copy(String key, RowCopier into, long weight) {
        keys.copy(key, into, weight);
    }

    @Override
    public void claim(Collection<String> claimed) {
        locks.claim(keys, claimed, Optional.empty());
    }

    @Override
    public void claimAll() {
        claim(List.of(RowLocks.ALL_ROWS));
    }

    @Override
    public boolean references(String foreignKey, String text) {
        return keys.references().count(ValueCounts.of(foreignKey, text)) > 0;
    }

    @Override
    public boolean containsUnique(String text) {
        return keys.uniques().count(text) > 0;
    }

    @Override
    public void write(List<Batch> rows) {
        reserve(rows);
        if (keys.uniques().isEmpty()) {
            keys.wrote(append.applyAsLong(rows));
            return;
        }
        Map<String, Integer> changes = keys.uniques().changes(rows);
        try {
            claim(changes.keySet());
            changes.forEach((text, change) -> {
                if (change > 0 && keys.uniques().count(text) + change > 1) {
                    throw keys.uniques().duplicate(text, rows);
                }
            });
        } catch (RuntimeException e) {
            Closing.all(rows);
            throw e;
        }
        keys.wrote(append.applyAsLong(rows));
        keys.uniques().apply(changes);
    }

    private void reserve(List<Batch> rows) {
        try {
            keys.reserve(
                    keys.hasKey() ? rows.stream().mapToLong(Batch::rowCount).sum() : 0);
        } catch (RuntimeException e) {
            Closing.all(rows);
            throw e;
        }
    }

    @Override
    public void put(Batch batch, Iterable<Map.Entry<String, Integer>> rows) {
        keys.put(batch, rows);
    }

    @Override
    public void remove(String key) {
        keys.remove(key);
    }
}
