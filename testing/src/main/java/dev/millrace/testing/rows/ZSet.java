package dev.millrace.testing.rows;

import dev.millrace.batch.Batch;
import dev.millrace.number.Bignum;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * Rows with multiplicities: what weighted batches add up to. Rows whose weights cancel disappear, which asks that a
 * retraction repeat the row exactly; {@link #differences} then allows doubles a relative error of 1e-9.
 */
public final class ZSet {
    private static final double RELATIVE_ERROR = 1e-9;

    /** What is left where nearly equal numbers of everyday size are subtracted, as between two values of a percentile. */
    private static final double ABSOLUTE_ERROR = 1e-12;

    private static final int MOST_SHOWN = 20;

    private final Map<Row, Long> weights = new LinkedHashMap<>();

    /** Each of the rows once (or as often as it is there). */
    public static ZSet of(Iterable<Row> rows) {
        ZSet set = new ZSet();
        rows.forEach(row -> set.add(row, 1));
        return set;
    }

    public void add(Row row, long weight) {
        weights.merge(row, weight, (a, b) -> a + b == 0 ? null : Long.valueOf(a + b));
    }

    /** Adds the rows of a batch with their weights; does not take it over. */
    public void add(Batch batch) {
        for (int row = 0; row < batch.rowCount(); row++) {
            add(TestBatches.row(batch, row), TestBatches.weight(batch, row));
        }
    }

    public void addAll(ZSet other) {
        other.weights.forEach(this::add);
    }

    public ZSet copy() {
        ZSet copy = new ZSet();
        copy.weights.putAll(weights);
        return copy;
    }

    public boolean isEmpty() {
        return weights.isEmpty();
    }

    public void forEach(BiConsumer<Row, Long> action) {
        weights.forEach(action);
    }

    /** The rows, each as often as its weight says; fails on negative weights. */
    public List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        weights.forEach((row, weight) -> {
            if (weight < 0) {
                throw new AssertionError("weight " + weight + " of " + row);
            }
            for (long i = 0; i < weight; i++) {
                rows.add(row);
            }
        });
        return rows;
    }

    /** Whether no row has a negative weight. */
    public boolean isPositive() {
        return weights.values().stream().allMatch(weight -> weight > 0);
    }

    /** What is missing from {@code actual} and what it has too much, one row a line; empty when both are equal. */
    public String differences(ZSet actual) {
        Map<Row, Long> missing = new LinkedHashMap<>();
        Map<Row, Long> surplus = new LinkedHashMap<>();
        ZSet difference = copy();
        actual.weights.forEach((row, weight) -> difference.add(row, -weight));
        difference.weights.forEach((row, weight) -> (weight > 0 ? missing : surplus).put(row, Math.abs(weight)));
        cancelNearlyEqual(missing, surplus);
        if (missing.isEmpty() && surplus.isEmpty()) {
            return "";
        }
        StringBuilder text = new StringBuilder();
        describe("expected but absent", missing, text);
        describe("there but not expected", surplus, text);
        return text.toString();
    }

    /** Only rows that agree in all that must be exact are candidates for each other. */
    private static void cancelNearlyEqual(Map<Row, Long> missing, Map<Row, Long> surplus) {
        Map<Row, List<Row>> candidates = new HashMap<>();
        surplus.keySet()
                .forEach(row -> candidates
                        .computeIfAbsent(withoutInexact(row), key -> new ArrayList<>())
                        .add(row));
        for (Row expected : List.copyOf(missing.keySet())) {
            for (Row row : candidates.getOrDefault(withoutInexact(expected), List.of())) {
                Long wanted = missing.get(expected);
                Long there = surplus.get(row);
                if (wanted != null && there != null && nearlyEqual(expected.values(), row.values())) {
                    long both = Math.min(wanted, there);
                    missing.computeIfPresent(expected, (key, weight) -> weight == both ? null : weight - both);
                    surplus.computeIfPresent(row, (key, weight) -> weight == both ? null : weight - both);
                }
            }
        }
    }

    private static Row withoutInexact(Row row) {
        List<Object> values = new ArrayList<>(row.values());
        values.replaceAll(value -> value instanceof Double
                        || value instanceof BigDecimal
                        || value instanceof Bignum
                        || value instanceof List<?>
                ? ""
                : value);
        return new Row(values);
    }

    /**
     * Whether two values are equal, doubles (and a decimal against a double) up to a relative error of 1e-9 or an absolute
     * one of 1e-12.
     */
    public static boolean nearlyEqual(Object a, Object b) {
        if (a instanceof Bignum x && x.isFinite()) {
            return nearlyEqual(x.value(), b);
        }
        if (b instanceof Bignum y && y.isFinite()) {
            return nearlyEqual(a, y.value());
        }
        if (a instanceof List<?> x && b instanceof List<?> y) {
            if (x.size() != y.size()) {
                return false;
            }
            for (int i = 0; i < x.size(); i++) {
                if (!nearlyEqual(x.get(i), y.get(i))) {
                    return false;
                }
            }
            return true;
        }
        if (a instanceof BigDecimal x && b instanceof BigDecimal y) {
            return x.compareTo(y) == 0;
        }
        if (a instanceof Number x && b instanceof Number y && (a instanceof Double || b instanceof Double)) {
            double p = x.doubleValue();
            double q = y.doubleValue();
            return Double.compare(p, q) == 0
                    || Double.isFinite(p)
                            && Double.isFinite(q)
                            && (Math.abs(p - q) <= RELATIVE_ERROR * Math.max(Math.abs(p), Math.abs(q))
                                    || Math.abs(p - q) <= ABSOLUTE_ERROR);
        }
        return a == null ? b == null : a.equals(b);
    }

    private static void describe(String title, Map<Row, Long> rows, StringBuilder text) {
        if (rows.isEmpty()) {
            return;
        }
        text.append(title).append(" (").append(rows.size()).append(" rows):\n");
        rows.entrySet().stream()
                .limit(MOST_SHOWN)
                .forEach(entry -> text.append("  ")
                        .append(entry.getKey())
                        .append(entry.getValue() == 1 ? "" : " x " + entry.getValue())
                        .append('\n'));
        if (rows.size() > MOST_SHOWN) {
            text.append("  ...\n");
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ZSet set && weights.equals(set.weights);
    }

    @Override
    public int hashCode() {
        return weights.hashCode();
    }

    @Override
    public String toString() {
        return weights.toString();
    }
}
