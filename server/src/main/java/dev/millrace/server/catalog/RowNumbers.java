package dev.millrace.server.catalog;

import dev.millrace.sql.catalog.ColumnRule;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The numbers and random values of columns that the server fills. A number is given once, also when the row is not kept: as
 * in PostgreSQL there may be gaps. Safe on any thread.
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

    /** The last values that a relation's columns were given; empty if it has no such columns. */
    public Map<String, Long> last(String relation) {
        Map<String, Long> values = new TreeMap<>();
        last.getOrDefault(relation, Map.of()).forEach((column, counter) -> values.put(column, counter.get()));
        return values;
    }

    /** A column goes on behind a value. */
    public void goOn(String relation, String column, long value) {
        counter(relation, column).accumulateAndGet(value, Math::max);
    }

    /** A column goes on behind a value, whatever it gave before. */
    public void set(String relation, String column, long value) {
        counter(relation, column).set(value);
    }

    /** A relation's numbers go on behind these, and it has no others. */
    public void restore(String relation, Map<String, Long> values) {
        last.remove(relation);
        values.forEach((column, value) -> set(relation, column, value));
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
