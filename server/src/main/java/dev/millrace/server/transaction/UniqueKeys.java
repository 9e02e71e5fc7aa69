package dev.millrace.server.transaction;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.rows.KeyText;
import dev.millrace.sql.catalog.TableRules.Unique;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The UNIQUE constraints of one table: which values are there, each as a text that begins with the constraint's place. They are
 * asked and kept where rows are written, by what is added less what is taken away. Guarded by the lock of the table's
 * {@link TableKeys}.
 */
public final class UniqueKeys {
    private record Key(String name, List<String> columns, int[] places) {}

    private final List<Key> keys = new ArrayList<>();
    private final Map<String, Integer> there = new HashMap<>();

    UniqueKeys(Schema schema, List<Unique> uniques) {
        for (Unique unique : uniques) {
            int[] places = unique.columns().stream().mapToInt(schema::indexOf).toArray();
            keys.add(new Key(unique.name(), unique.columns(), places));
        }
    }

    public boolean isEmpty() {
        return keys.isEmpty();
    }

    /** What identifies a row by a constraint; empty where a value is NULL. */
    private Optional<String> text(int number, Batch rows, int row) {
        StringBuilder text = new StringBuilder("u").append(number).append(' ');
        for (int column : keys.get(number).places) {
            Optional<String> value = KeyText.of(rows, column, row);
            if (value.isEmpty()) {
                return Optional.empty();
            }
            text.append(value.get().length()).append(':').append(value.get());
        }
        return Optional.of(text.toString());
    }

    /** The texts of a row that count where only one constraint does, or all do. */
    public List<String> texts(Optional<String> constraint, Batch rows, int row) {
        List<String> texts = new ArrayList<>();
        for (int number = 0; number < keys.size(); number++) {
            boolean counts = constraint.isEmpty() || constraint.get().equals(keys.get(number).name);
            if (counts) {
                text(number, rows, row).ifPresent(texts::add);
            }
        }
        return texts;
    }

    /** How much more often each value is there after rows are written. */
    Map<String, Integer> changes(List<Batch> batches) {
        Map<String, Integer> changes = new LinkedHashMap<>();
        for (Batch batch : batches) {
            for (int row = 0; row < batch.rowCount(); row++) {
                int weight = batch.weights().isPresent()
                        ? (int) batch.weights().get().get(row)
                        : 1;
                for (String text : texts(Optional.empty(), batch, row)) {
                    changes.merge(text, weight, Integer::sum);
                }
            }
        }
        return changes;
    }

    int count(String text) {
        return there.getOrDefault(text, 0);
    }

    void apply(Map<String, Integer> changes) {
        changes.forEach((text, change) -> there.merge(text, change, (a, b) -> a + b == 0 ? null : a + b));
        changes.keySet().forEach(text -> there.remove(text, 0));
    }

    /** 23505 for a value that would be there twice. */
    MillraceException duplicate(String text, List<Batch> batches) {
        Key key = keys.get(Integer.parseInt(text.substring(1, text.indexOf(' '))));
        String values = "";
        for (Batch batch : batches) {
            for (int row = 0; row < batch.rowCount() && values.isEmpty(); row++) {
                if (texts(Optional.of(key.name), batch, row).contains(text)) {
                    List<String> shown = new ArrayList<>();
                    for (int column : key.places) {
                        shown.add(ValueText.format(batch, column, row).orElseThrow());
                    }
                    values = String.join(", ", shown);
                }
            }
        }
        return MillraceException.user(
                        SqlState.UNIQUE_VIOLATION,
                        "duplicate key value violates unique constraint \"" + key.name + "\": ("
                                + String.join(", ", key.columns) + ")=(" + values + ")")
                .withHint("ON CONFLICT DO NOTHING keeps the row that is there");
    }
}
