package dev.millrace.testing.connector;

import dev.millrace.batch.Batch;
import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.SourceMemory;
import dev.millrace.memory.Memory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A log of a stream's rows and of what its source remembers, of which a crash leaves what was on disk. Safe on any thread. */
final class PushedStore implements SourceMemory {
    private record Entry(List<Long> rows, MemoryChange change) {}

    private final List<Entry> log = new ArrayList<>();
    private final Map<String, byte[]> memory = new HashMap<>();
    private int durable; // entries

    /** Appends an entry, which is not on disk yet; returns how many there are. */
    synchronized int append(Batch batch, MemoryChange change) {
        List<Long> rows = new ArrayList<>();
        for (int row = 0; row < batch.rowCount(); row++) {
            rows.add(Memory.getLong(batch.dataAddress(0) + 8L * row));
        }
        return append(rows, change);
    }

    private synchronized int append(List<Long> rows, MemoryChange change) {
        log.add(new Entry(rows, change));
        took(change);
        return log.size();
    }

    private void took(MemoryChange change) {
        memory.keySet().removeAll(change.removed());
        memory.putAll(change.put());
    }

    @Override
    public synchronized Map<String, byte[]> entries() {
        return Map.copyOf(memory);
    }

    @Override
    public synchronized void change(MemoryChange change) {
        append(List.of(), change);
        durable = log.size();
    }

    /** The first so many entries are on disk. */
    synchronized void isOnDisk(int entries) {
        durable = Math.max(durable, entries);
    }

    synchronized int size() {
        return log.size();
    }

    synchronized int durable() {
        return durable;
    }

    /** What was not on disk is gone. */
    synchronized void crash() {
        log.subList(durable, log.size()).clear();
        memory.clear();
        log.forEach(entry -> took(entry.change()));
    }

    synchronized List<Long> rows() {
        return log.stream().flatMap(entry -> entry.rows().stream()).toList();
    }
}
