package dev.millrace.sql.catalog;

import dev.millrace.sql.text.Identifiers;
import java.util.List;
import java.util.stream.Collectors;

/**
 * ON CONFLICT of a table: what becomes of a row whose primary key is taken, where the INSERT does not say it itself. Rows of one
 * statement that have the same key are taken one after the other.
 *
 * @param versions columns by which a row must not be older than the one that is there, or it is passed over; compared in this order,
 *     NULL before all values
 */
public record TableConflict(Action action, List<String> versions) {
    /** With the words that say it. */
    public enum Action {
        NOTHING("DO NOTHING"),
        OVERWRITE("OVERWRITE"),
        /** The columns take the values that are not NULL. */
        UPDATE_NOT_NULL("DO UPDATE IF NOT NULL");

        private final String words;

        Action(String words) {
            this.words = words;
        }
    }

    public TableConflict {
        versions = List.copyOf(versions);
    }

    /** As it stands behind the columns of CREATE TABLE. */
    public String text() {
        String columns = versions.stream().map(Identifiers::quote).collect(Collectors.joining(", "));
        return "ON CONFLICT " + action.words + (versions.isEmpty() ? "" : " WITH VERSION COLUMN (" + columns + ")");
    }

    /** The same of a table one of whose columns has another name. */
    public TableConflict renamed(String column, String newName) {
        return new TableConflict(
                action,
                versions.stream()
                        .map(version -> version.equals(column) ? newName : version)
                        .toList());
    }
}
