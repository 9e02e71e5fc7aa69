package dev.millrace.jdbc;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An INSERT whose values are all parameters, as the COPY that takes the same rows.
 *
 * @param sql COPY ... FROM STDIN
 */
record InsertAsCopy(String sql, int parameters) {
    private static final String NAME = "(?:[\\p{L}_][\\p{L}\\p{N}_$]*|\"(?:[^\"]|\"\")+\")";
    private static final String RELATION = NAME + "(?:\\s*\\.\\s*" + NAME + ")?";
    private static final String COLUMNS = "\\(\\s*" + NAME + "(?:\\s*,\\s*" + NAME + ")*\\s*\\)";
    private static final Pattern INSERT = Pattern.compile(
            "\\s*INSERT\\s+INTO\\s+(" + RELATION + ")\\s*(" + COLUMNS + ")?\\s*VALUES\\s*\\(([\\s?,]+)\\)[\\s;]*",
            Pattern.CASE_INSENSITIVE);
    private static final Pattern PARAMETERS = Pattern.compile("\\s*\\?\\s*(?:,\\s*\\?\\s*)*");

    /** Empty for any other statement. */
    static Optional<InsertAsCopy> of(String sql) {
        Matcher insert = INSERT.matcher(sql);
        if (!insert.matches() || !PARAMETERS.matcher(insert.group(3)).matches()) {
            return Optional.empty();
        }
        String columns = insert.group(2) == null ? "" : " " + insert.group(2);
        int parameters =
                (int) insert.group(3).chars().filter(letter -> letter == '?').count();
        return Optional.of(new InsertAsCopy("COPY " + insert.group(1) + columns + " FROM STDIN", parameters));
    }
}
