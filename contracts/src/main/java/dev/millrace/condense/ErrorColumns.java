package dev.millrace.condense;

import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;

/**
 * Columns that a relation has beside those of its schema: behind the last, for each column in turn, how far its value in a row may be off (DOUBLE
 * PRECISION, not negative, never NULL; of a time in microseconds). Zero says that it is exact. Only readers of a relation that is {@link Condensing} are
 * asked for them, of columns that it calls inexact.
 */
public final class ErrorColumns {
    private ErrorColumns() {}

    /** The column that says how far one of the relation's own may be off. */
    public static int of(Schema relation, int column) {
        return relation.size() + column;
    }

    /** Whether a column is one that says how far another may be off. */
    public static boolean isOne(Schema relation, int column) {
        return column >= relation.size();
    }

    /** Which column it speaks of. */
    public static int subject(Schema relation, int errorColumn) {
        return errorColumn - relation.size();
    }

    /** A column of either kind. */
    public static Field field(Schema relation, int column) {
        return isOne(relation, column)
                ? new Field(relation.field(subject(relation, column)).name() + "_error", DataType.DOUBLE, false)
                : relation.field(column);
    }

    /** Columns of both kinds, in that order. */
    public static Schema select(Schema relation, List<Integer> columns) {
        return new Schema(
                columns.stream().map(column -> field(relation, column)).toList());
    }
}
