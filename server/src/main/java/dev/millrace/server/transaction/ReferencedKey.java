package dev.millrace.server.transaction;

import dev.millrace.sql.catalog.TableRules.Unique;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The key of a table that a foreign key is about.
 *
 * @param unique the place of its constraint among those that are unique; none for the primary key
 * @param order of each column of the key its place among those of the foreign key
 */
public record ReferencedKey(OptionalInt unique, List<Integer> order) {
    public ReferencedKey {
        order = List.copyOf(order);
    }

    /** The key that has these columns and no others, in any order. */
    public static Optional<ReferencedKey> of(
            Schema schema, List<Integer> primaryKey, List<Unique> uniques, List<String> columns) {
        List<String> primary =
                primaryKey.stream().map(column -> schema.field(column).name()).toList();
        if (isSame(primary, columns)) {
            return Optional.of(new ReferencedKey(OptionalInt.empty(), order(primary, columns)));
        }
        for (int number = 0; number < uniques.size(); number++) {
            List<String> unique = uniques.get(number).columns();
            if (isSame(unique, columns)) {
                return Optional.of(new ReferencedKey(OptionalInt.of(number), order(unique, columns)));
            }
        }
        return Optional.empty();
    }

    private static boolean isSame(List<String> key, List<String> columns) {
        return key.size() == columns.size() && new HashSet<>(key).equals(new HashSet<>(columns));
    }

    private static List<Integer> order(List<String> key, List<String> columns) {
        return key.stream().map(columns::indexOf).toList();
    }

    /** What the table knows the key by, of the text of a foreign key's values ({@link ValueCounts#text}). */
    public String known(String text) {
        StringBuilder ordered = new StringBuilder(unique.isPresent() ? "u" + unique.getAsInt() + " " : "");
        List<String> values = values(text);
        order.forEach(place -> ordered.append(values.get(place)));
        return ordered.toString();
    }

    /** The values of a text as they are, one by one. */
    public static List<String> shown(String text) {
        return values(text).stream()
                .map(value -> value.substring(value.indexOf(':') + 1))
                .toList();
    }

    private static List<String> values(String text) {
        List<String> values = new ArrayList<>();
        int from = 0;
        while (from < text.length()) {
            int colon = text.indexOf(':', from);
            int end = colon + 1 + Integer.parseInt(text, from, colon, 10);
            values.add(text.substring(from, end));
            from = end;
        }
        return values;
    }
}
