package dev.millrace.sql.catalog;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What rows written to a relation take and must hold, beside types and NOT NULL.
 *
 * @param columns by name, those that have a rule
 * @param checks in the order they were written
 */
public record TableRules(Map<String, ColumnRule> columns, List<Check> checks) {
    public static final TableRules NONE = new TableRules(Map.of(), List.of());

    /** A condition that no row may fail; {@code text} is the expression as it was written. */
    public record Check(String name, String text) {}

    public TableRules {
        columns = Collections.unmodifiableMap(new LinkedHashMap<>(columns));
        checks = List.copyOf(checks);
    }

    public Optional<ColumnRule> of(String column) {
        return Optional.ofNullable(columns.get(column));
    }

    /** Whether the value of a column is computed from others. */
    public boolean isGenerated(String column) {
        return of(column)
                .filter(rule -> rule.kind() == ColumnRule.Kind.GENERATED)
                .isPresent();
    }

    /** Whether rows need more than their values. */
    public boolean isEmpty() {
        return columns.isEmpty() && checks.isEmpty();
    }
}
