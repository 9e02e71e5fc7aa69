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
 * @param uniques in the order they were written
 * @param digits of seconds, to which values of TIMESTAMP(p), TIME(p) and INTERVAL(p) columns are rounded, by name; or the number
 *     of the fields that an INTERVAL column has
 * @param conflict what a taken key means; empty where it is an error
 * @param foreignKeys in the order in which they came
 */
public record TableRules(
        Map<String, ColumnRule> columns,
        List<Check> checks,
        List<Unique> uniques,
        Map<String, Integer> digits,
        Optional<TableConflict> conflict,
        List<ForeignKey> foreignKeys) {
    public static final TableRules NONE = new TableRules(Map.of(), List.of(), List.of(), Map.of());

    /** Columns whose values no two rows have in common, beside the primary key; rows with a NULL among them are not asked. */
    public record Unique(String name, List<String> columns) {
        public Unique {
            columns = List.copyOf(columns);
        }
    }

    /** A condition that no row may fail; {@code text} is the expression as it was written. */
    public record Check(String name, String text) {}

    /** Rules of a relation where a taken key is an error. */
    public TableRules(
            Map<String, ColumnRule> columns, List<Check> checks, List<Unique> uniques, Map<String, Integer> digits) {
        this(columns, checks, uniques, digits, Optional.empty());
    }

    /** Rules of a relation without foreign keys. */
    public TableRules(
            Map<String, ColumnRule> columns,
            List<Check> checks,
            List<Unique> uniques,
            Map<String, Integer> digits,
            Optional<TableConflict> conflict) {
        this(columns, checks, uniques, digits, conflict, List.of());
    }

    public TableRules {
        columns = Collections.unmodifiableMap(new LinkedHashMap<>(columns));
        checks = List.copyOf(checks);
        uniques = List.copyOf(uniques);
        digits = Map.copyOf(digits);
        foreignKeys = List.copyOf(foreignKeys);
    }

    /** The same where values come as they are. */
    public TableRules withoutDigits() {
        return new TableRules(columns, checks, uniques, Map.of(), conflict, foreignKeys);
    }

    /** These rules for a table where a taken key means this. */
    public TableRules withConflict(Optional<TableConflict> meaning) {
        return new TableRules(columns, checks, uniques, digits, meaning, foreignKeys);
    }

    /** These rules for a table whose unique columns are others. */
    public TableRules withUniques(List<Unique> others) {
        return new TableRules(columns, checks, others, digits, conflict, foreignKeys);
    }

    /** These rules for a table whose foreign keys are others. */
    public TableRules withForeignKeys(List<ForeignKey> others) {
        return new TableRules(columns, checks, uniques, digits, conflict, others);
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
        return columns.isEmpty()
                && checks.isEmpty()
                && uniques.isEmpty()
                && digits.isEmpty()
                && conflict.isEmpty()
                && foreignKeys.isEmpty();
    }
}
