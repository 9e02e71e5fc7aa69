package dev.millrace.server.transaction;

import dev.millrace.batch.Batch;
import dev.millrace.server.rows.KeyText;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * How often the rows of one table have which values in the columns of its foreign keys, so that a key is known to be referenced without a
 * look at the rows. A value is a text that begins with the name of the foreign key; rows with a NULL in it have none. Guarded by the lock of
 * the table's {@link TableKeys}.
 */
public final class ValueCounts {
    private final Map<String, int[]> places; // of columns, by the foreign key
    private final Map<String, Integer> there = new HashMap<>();

    /** @param places the columns of each foreign key, by its name */
    ValueCounts(Map<String, int[]> places) {
        this.places = places;
    }

    public boolean isEmpty() {
        return places.isEmpty();
    }

    /** The text of what the columns of a row have: each value with its length before it; empty where one is NULL. */
    public static Optional<String> text(Batch rows, int[] columns, int row) {
        StringBuilder text = new StringBuilder();
        for (int column : columns) {
            Optional<String> value = KeyText.of(rows, column, row);
            if (value.isEmpty()) {
                return Optional.empty();
            }
            text.append(value.get().length()).append(':').append(value.get());
        }
        return Optional.of(text.toString());
    }

    /** What is counted under a text of values that a foreign key has. */
    static String of(String foreignKey, String text) {
        return foreignKey.length() + ":" + foreignKey + text;
    }

    /** How much more often each value is there after rows are written. */
    Map<String, Integer> changes(List<Batch> batches) {
        Map<String, Integer> changes = new LinkedHashMap<>();
        places.forEach((name, columns) -> weights(batches, columns)
                .forEach((text, weight) -> changes.merge(of(name, text), weight, Integer::sum)));
        return changes;
    }

    /** How much more often rows have each text in some columns after these are written. */
    public static Map<String, Integer> weights(List<Batch> batches, int[] columns) {
        Map<String, Integer> weights = new LinkedHashMap<>();
        for (Batch batch : batches) {
            for (int row = 0; row < batch.rowCount(); row++) {
                int weight = batch.weights().isPresent()
                        ? (int) batch.weights().get().get(row)
                        : 1;
                text(batch, columns, row).ifPresent(text -> weights.merge(text, weight, Integer::sum));
            }
        }
        weights.values().removeIf(weight -> weight == 0);
        return weights;
    }

    int count(String text) {
        return there.getOrDefault(text, 0);
    }

    /** The texts of all values that rows have in a foreign key. */
    public Set<String> texts(String foreignKey) {
        String prefix = of(foreignKey, "");
        return there.keySet().stream()
                .filter(text -> text.startsWith(prefix))
                .map(text -> text.substring(prefix.length()))
                .collect(Collectors.toSet());
    }

    void apply(Map<String, Integer> changes) {
        changes.forEach((text, change) -> there.merge(text, change, Integer::sum));
        changes.keySet().forEach(text -> there.remove(text, 0));
    }
}
