package dev.millrace.sql.bind.change;

import dev.millrace.sql.bind.type.ParameterTypes;
import dev.millrace.sql.bind.type.SaidTimes;
import dev.millrace.sql.statement.LiteralRows;
import dev.millrace.sql.statement.LiteralRows.Cell;
import dev.millrace.sql.statement.LiteralRows.Kind;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Binds rows of literals to the columns they are for: puts values in the places of parameters, and sees to it that the text
 * of each can be read as its column's type with the result that an assignment would have. Everything else is for the way of
 * queries.
 */
public final class LiteralBinder {
    private final ParameterTypes parameters;

    public LiteralBinder(ParameterTypes parameters) {
        this.parameters = parameters;
    }

    /** The rows without parameters, for columns of a relation; empty if they are not that simple. */
    public Optional<LiteralRows> bind(LiteralRows rows, Schema relation, List<DataType> types) {
        boolean nested =
                relation.fields().stream().anyMatch(field -> field.type().isNested());
        boolean styled = !parameters.style().readsPlainly()
                && types.stream().anyMatch(type -> type.isTimestamp() || type.kind() == DataType.Kind.DATE);
        if (nested || styled || rows.width() > types.size()) {
            return Optional.empty();
        }
        List<Cell> cells = new ArrayList<>(rows.cells().size());
        for (int i = 0; i < rows.cells().size(); i++) {
            DataType type = types.get(i % rows.width());
            Optional<Cell> cell = literal(rows.cells().get(i), type);
            if (cell.isEmpty()
                    || !cell.get().kind().fits(type)
                    || SaidTimes.isOne(cell.get().text(), type)) {
                return Optional.empty();
            }
            cells.add(cell.get());
        }
        return Optional.of(new LiteralRows(rows.width(), cells));
    }

    private static boolean isWhole(DataType type) {
        return switch (type.kind()) {
            case SMALLINT, INTEGER, BIGINT -> true;
            default -> false;
        };
    }

    private static boolean isFloating(DataType type) {
        return type.kind() == DataType.Kind.DOUBLE || type.kind() == DataType.Kind.REAL;
    }

    private Optional<Cell> literal(Cell cell, DataType column) {
        if (cell.kind() != Kind.PARAMETER) {
            return Optional.of(cell);
        }
        Optional<Optional<String>> given = parameters.value(Integer.parseInt(cell.text()));
        if (given.isEmpty()) {
            return Optional.empty(); // only to be described, or missing
        }
        Optional<String> text = given.get();
        if (text.isEmpty()) {
            return Optional.of(new Cell(Kind.NULL, "", cell.position()));
        }
        DataType type = parameters.type(Integer.parseInt(cell.text()));
        return kind(type, text.get(), column).map(kind -> new Cell(kind, text.get(), cell.position()));
    }

    /** As what a parameter's value is written, if that can be said of a column of this type. */
    private static Optional<Kind> kind(DataType type, String text, DataType column) {
        boolean same = type.kind() == DataType.Kind.NULL
                || type.kind() == column.kind()
                || type.isText() && column.isText()
                || type.isExact() && column.isExact()
                || isFloating(type) && isFloating(column);
        if (same) {
            return Optional.of(Kind.STRING);
        } else if (isWhole(type) && text.matches("[+-]?[0-9]+")) {
            return Optional.of(Kind.INTEGER);
        } else if (type.kind() == DataType.Kind.NUMERIC && text.matches("[+-]?[0-9]+([.][0-9]*)?")) {
            return Optional.of(Kind.DECIMAL);
        }
        return Optional.empty();
    }
}
