package dev.millrace.server.differential;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a FROM clause offers to the expressions above it.
 *
 * @param rows about how many, so that joins of joins do not explode
 */
record Scope(List<Column> columns, double rows) {
    /**
     * @param name as expressions write it, with its relation's alias
     * @param values about how many different ones
     * @param plain whether expressions may compute with it; others are only passed on, grouped and sorted by
     */
    record Column(String name, Kind kind, double values, boolean plain) {
        Column under(String alias) {
            return new Column(alias + "." + name, kind, values, plain);
        }
    }

    Scope {
        columns = List.copyOf(columns);
    }

    /** About as many rows as a round feeds. */
    static final double ALL_ROWS = 350;

    /** The relation that all queries are about. */
    static final Scope BASE = new Scope(
            List.of(
                    new Column("id", Kind.BIGINT, ALL_ROWS, true),
                    new Column("k", Kind.INTEGER, 4, true),
                    new Column("g", Kind.TEXT, 7, true),
                    new Column("i", Kind.INTEGER, 150, true),
                    new Column("l", Kind.BIGINT, ALL_ROWS, true),
                    new Column("n", Kind.NUMERIC, ALL_ROWS, true),
                    new Column("d", Kind.DOUBLE, ALL_ROWS, true),
                    new Column("b", Kind.BOOLEAN, 2, true),
                    new Column("t", Kind.TEXT, 17, true),
                    new Column("day", Kind.DATE, 11, true),
                    new Column("ts", Kind.TIMESTAMP, ALL_ROWS, true),
                    new Column("x", Kind.OTHER, 9, false),
                    new Column("w", Kind.OTHER, 10, false),
                    new Column("big", Kind.OTHER, 6, false)),
            ALL_ROWS);

    Scope under(String alias) {
        return new Scope(columns.stream().map(column -> column.under(alias)).toList(), rows);
    }

    Scope with(Scope other, double newRows) {
        List<Column> both = new ArrayList<>(columns);
        both.addAll(other.columns);
        return new Scope(both, newRows);
    }

    List<Column> of(Kind kind) {
        return columns.stream()
                .filter(column -> column.kind() == kind && column.plain())
                .toList();
    }

    /** A column to compute with, of a kind, if there is one. */
    Optional<Dual> any(Kind kind, Chance chance) {
        List<Column> columnsOfKind = of(kind);
        return columnsOfKind.isEmpty()
                ? Optional.empty()
                : Optional.of(Dual.same(chance.of(columnsOfKind).name()));
    }

    /** What a column may be compared with. */
    List<Column> like(Column column) {
        return columns.stream()
                .filter(each -> each.kind() == column.kind() && column.kind() != Kind.OTHER)
                .toList();
    }

    /** Whole numbers that expressions may compute with. */
    List<Column> numbers() {
        List<Column> numbers = new ArrayList<>(of(Kind.INTEGER));
        numbers.addAll(of(Kind.BIGINT));
        return numbers;
    }
}
