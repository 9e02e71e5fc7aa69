package dev.millrace.sql.catalog;

import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A function that a user made, or one of ours that is short for an expression.
 *
 * @param parameters names and types; an unnamed one is {@code $1} and so on; the type NULL takes what is given
 * @param defaults the texts of expressions for the last parameters, which may be left out
 * @param returns of a table function the row that it gives; the type NULL is that of the expression
 * @param code of SQL the text of an expression over the parameters, of SQL_TABLE that of a query; else what plans call it by
 */
public record UserFunction(
        String name, Kind kind, List<Field> parameters, List<String> defaults, DataType returns, String code) {
    /** What a function is. */
    public enum Kind {
        /** An expression that takes the place of its call. */
        SQL,
        /** A query that takes the place of its call in FROM. */
        SQL_TABLE,
        /** A value of a row. */
        SCALAR,
        /** A value of a group. */
        AGGREGATE,
        /** Rows of a row. */
        TABLE
    }

    public UserFunction {
        parameters = List.copyOf(parameters);
        defaults = List.copyOf(defaults);
    }

    /** A function all of whose parameters must be given. */
    public UserFunction(String name, Kind kind, List<Field> parameters, DataType returns, String code) {
        this(name, kind, parameters, List.of(), returns, code);
    }

    /**
     * A function that is short for an expression, such as {@code pg_get_userbyid(oid)}: {@code arg1}, {@code arg2} and so
     * on stand for its arguments, of whatever types. Those behind the first may be left out and are NULL then.
     */
    public static UserFunction expression(String name, String code) {
        List<Field> parameters = new ArrayList<>();
        while (code.contains("arg" + (parameters.size() + 1))) {
            parameters.add(new Field("arg" + (parameters.size() + 1), DataType.NULL, true));
        }
        List<String> defaults = Collections.nCopies(Math.max(0, parameters.size() - 1), "NULL");
        return new UserFunction(name, Kind.SQL, parameters, defaults, DataType.NULL, code);
    }

    /** The name without a schema. */
    public String plainName() {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    /** How many arguments a call must give at least. */
    public int leastArguments() {
        return parameters.size() - defaults.size();
    }
}
