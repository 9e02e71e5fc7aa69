package dev.millrace.sql.statement;

import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;

/**
 * Rows of VALUES that are made of nothing but literals, as texts: what most INSERTs are, for which neither algebra nor a
 * plan is worth its time.
 *
 * @param width cells of a row
 * @param cells row by row
 */
public record LiteralRows(int width, List<Cell> cells) implements RowSource {
    /** What a cell is written as. */
    public enum Kind {
        NULL,
        /** In quotes: of whatever type is wanted. */
        STRING,
        INTEGER,
        DECIMAL,
        BOOLEAN,
        /** {@code TIMESTAMP '...'} */
        TIMESTAMP,
        /** {@code DATE '...'} */
        DATE,
        /** {@code $n}, before its value is known: the text is the digits. */
        PARAMETER;

        /** Whether the text of such a cell, read as one of a type, gives what an assignment of it to a column of that type would. */
        public boolean fits(DataType type) {
            return switch (this) {
                case NULL, STRING -> true;
                case INTEGER -> isWhole(type) || takesDecimals(type);
                case DECIMAL -> takesDecimals(type);
                case BOOLEAN -> type.kind() == DataType.Kind.BOOLEAN;
                case TIMESTAMP -> type.kind() == DataType.Kind.TIMESTAMP;
                case DATE -> type.kind() == DataType.Kind.DATE || type.kind() == DataType.Kind.TIMESTAMP;
                case PARAMETER -> false;
            };
        }

        private static boolean isWhole(DataType type) {
            return switch (type.kind()) {
                case SMALLINT, INTEGER, BIGINT -> true;
                default -> false;
            };
        }

        private static boolean takesDecimals(DataType type) {
            return switch (type.kind()) {
                case REAL, DOUBLE, NUMERIC, BIGNUM -> true;
                default -> false;
            };
        }
    }

    /**
     * One value.
     *
     * @param text without quotes, numbers with their sign
     * @param position of its first character in the statement's source, from 1
     */
    public record Cell(Kind kind, String text, int position) {}

    public LiteralRows {
        cells = List.copyOf(cells);
        if (width < 1 || cells.size() % width != 0) {
            throw new IllegalArgumentException(cells.size() + " cells in rows of " + width);
        }
    }

    /** The same rows, each with these cells behind it. */
    public LiteralRows with(List<Cell> more) {
        if (more.isEmpty()) {
            return this;
        }
        List<Cell> all = new ArrayList<>(rows() * (width + more.size()));
        for (int row = 0; row < rows(); row++) {
            all.addAll(cells.subList(row * width, (row + 1) * width));
            all.addAll(more);
        }
        return new LiteralRows(width + more.size(), all);
    }

    public int rows() {
        return cells.size() / width;
    }

    public Cell cell(int row, int column) {
        return cells.get(row * width + column);
    }
}
