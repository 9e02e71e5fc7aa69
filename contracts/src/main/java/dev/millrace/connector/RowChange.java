package dev.millrace.connector;

import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A change of a row that is known by its key.
 *
 * @param isDelete whether the row goes; then only the values of its key count
 * @param values one for each column, in the text form of PostgreSQL's input functions; empty for NULL
 * @param kept places of columns that have the values that they had, which were not told; none of the key
 */
public record RowChange(boolean isDelete, List<Optional<String>> values, Set<Integer> kept) {
    public RowChange {
        values = Collections.unmodifiableList(values);
        kept = Set.copyOf(kept);
    }

    /** A row that is put in the place of the one of its key, if there is one. */
    public static RowChange put(List<Optional<String>> values) {
        return new RowChange(false, values, Set.of());
    }

    /** A row that goes. */
    public static RowChange delete(List<Optional<String>> values) {
        return new RowChange(true, values, Set.of());
    }
}
