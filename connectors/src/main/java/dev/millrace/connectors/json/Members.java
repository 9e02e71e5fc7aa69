package dev.millrace.connectors.json;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Which members of an object are columns, and which hold some: a tree by names. */
final class Members {
    static final int NO_COLUMN = -1;

    private final Map<String, Members> exact = new HashMap<>();
    private final Map<String, Members> folded = new HashMap<>();
    private int column = NO_COLUMN;

    static Members of(List<JsonColumn> columns) {
        Members root = new Members();
        for (int i = 0; i < columns.size(); i++) {
            Members member = root;
            for (String name : columns.get(i).path()) {
                Members next = member.exact.computeIfAbsent(name, key -> new Members());
                member.folded.putIfAbsent(name.toLowerCase(Locale.ROOT), next);
                member = next;
            }
            member.column = i;
        }
        return root;
    }

    /** The member of that name, in any case if it is not there exactly; or {@link #NONE}. */
    Members find(String name) {
        Members found = exact.get(name);
        if (found == null) {
            found = folded.getOrDefault(name.toLowerCase(Locale.ROOT), NONE);
            exact.put(name, found); // so that the next time is quick
        }
        return found;
    }

    /** The column that this member is, or NO_COLUMN. */
    int column() {
        return column;
    }

    boolean holdsColumns() {
        return !exact.isEmpty();
    }

    static final Members NONE = new Members();
}
