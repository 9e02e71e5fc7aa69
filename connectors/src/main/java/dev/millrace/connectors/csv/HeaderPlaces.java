package dev.millrace.connectors.csv;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Where a header has which names. Immutable. */
final class HeaderPlaces {
    private final Map<String, Integer> exact = new HashMap<>();
    private final Map<String, Integer> caseless = new HashMap<>();
    private final Map<String, Integer> guessed = new HashMap<>();

    HeaderPlaces(List<String> header) {
        List<String> names = CsvInference.names(header);
        for (int i = 0; i < header.size(); i++) {
            exact.putIfAbsent(header.get(i), i);
            caseless.putIfAbsent(folded(header.get(i)), i);
            guessed.put(names.get(i), i);
        }
    }

    private static String folded(String name) {
        return name.toUpperCase(Locale.ROOT).toLowerCase(Locale.ROOT);
    }

    /** The field of that name, else the first that differs in case only, else the one whose column is called so when it is guessed, else -1. */
    int of(String column) {
        Integer place = exact.get(column);
        if (place == null) {
            place = caseless.get(folded(column));
        }
        return place == null ? guessed.getOrDefault(column, -1) : place;
    }

    boolean namesAny(List<CsvColumn> columns) {
        return columns.stream().anyMatch(column -> of(column.field().name()) >= 0);
    }
}
