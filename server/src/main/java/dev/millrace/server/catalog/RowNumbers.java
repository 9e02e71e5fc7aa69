package dev.millrace.server.catalog;

import dev.millrace.sql.catalog.ColumnRule;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The numbers and random values of columns that the server fills. A number is given once, also when the row is not kept: as
 * in PostgreSQL there may be gaps. They are as old as the rows: a database that is opened again begins with 1. Safe on any
 * thread.
 */
public final class RowNumbers {
    private final Map<String, Map<String, AtomicLong>> last = new ConcurrentHashMap<>();

    /** The next value of a column, as text. */
    public String value(String relation, String column, ColumnRule rule) {
        return rule.kind() == ColumnRule.Kind.UUID
                ? UUID.randomUUID().toString()
                : Long.toString(counter(relation, column).incrementAndGet());
    }

    private AtomicLong counter(String relation, String column) {
        return last.computeIfAbsent(relation, unknown -> new ConcurrentHashMap<>())
                .computeIfAbsent(column, unknown -> new AtomicLong());
    }

    /** A relation's numbers begin again. */
    public void restart(String relation) {
        last.getOrDefault(relation, Map.of()).values().forEach(counter -> counter.set(0));
    }

    /** A column has another name, and goes on counting. */
    public void rename(String relation, String column, String newName) {
        Map<String, AtomicLong> counters = last.getOrDefault(relation, new ConcurrentHashMap<>());
        AtomicLong counter = counters.remove(column);
        if (counter != null) {
            counters.put(newName, counter);
        }
    }

    void forget(String relation) {
        last.remove(relation);
    }
}
