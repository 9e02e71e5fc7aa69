package dev.millrace.sql.catalog;

import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.List;

/**
 * A function that a user made.
 *
 * @param parameters names and types; an unnamed one is {@code $1} and so on
 * @param returns of a table function the row that it gives
 * @param code of SQL the text of an expression over the parameters; else what plans call it by
 */
public record UserFunction(String name, Kind kind, List<Field> parameters, DataType returns, String code) {
    /** What a function is. */
    public enum Kind {
        /** An expression that takes the place of its call. */
        SQL,
        /** A value of a row. */
        SCALAR,
        /** A value of a group. */
        AGGREGATE,
        /** Rows of a row. */
        TABLE
    }

    public UserFunction {
        parameters = List.copyOf(parameters);
    }
}
