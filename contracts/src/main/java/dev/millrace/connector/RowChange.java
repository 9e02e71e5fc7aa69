package dev.millrace.connector;

import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * A change of a row that is known by its key.
 *
 * @param isDelete whether the row goes; then only the values of its key count
 * @param values one for each column, in the text form of PostgreSQL's input functions; empty for NULL
 */
public record RowChange(boolean isDelete, List<Optional<String>> values) {
    public RowChange {
        values = Collections.unmodifiableList(values);
    }

    /** A row that is put in the place of the one of its key, if there is one. */
    public static RowChange put(List<Optional<String>> values) {
        return new RowChange(false, values);
    }

    /** A row that goes. */
    public static RowChange delete(List<Optional<String>> values) {
        return new RowChange(true, values);
    }
}
