package dev.millrace.sql.bind.type;

import dev.millrace.text.TimeStyle;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;

/**
 * What is known of the parameters {@code $1}, {@code $2}, ... of a statement.
 *
 * <p>Without values (to describe a prepared statement) they become {@code RexDynamicParam}s, their types inferred where
 * not declared. With values each is a literal of its text, as if the user had written {@code '...'} (cast to the
 * declared type, if there is one) in its place.
 *
 * @param declaredTypes by number from 0, {@link DataType#NULL} for those to be inferred; may be shorter than needed
 * @param values texts by number from 0, empty for NULL; no list when describing
 * @param style of dates and times in the statement and in the values
 */
public record Parameters(List<DataType> declaredTypes, Optional<List<Optional<String>>> values, TimeStyle style) {
    public Parameters {
        declaredTypes = List.copyOf(declaredTypes);
        values = values.map(List::copyOf);
    }

    /** A statement without parameters. */
    public static Parameters none() {
        return new Parameters(List.of(), Optional.of(List.of()), TimeStyle.PLAIN);
    }

    /** To find the types of the parameters and of the result. */
    public static Parameters toDescribe(List<DataType> declaredTypes) {
        return new Parameters(declaredTypes, Optional.empty(), TimeStyle.PLAIN);
    }

    /** To run a statement. */
    public static Parameters of(List<DataType> declaredTypes, List<Optional<String>> values) {
        return new Parameters(declaredTypes, Optional.of(values), TimeStyle.PLAIN);
    }

    /** The same in another style. */
    public Parameters inStyle(TimeStyle wanted) {
        return wanted.equals(style) ? this : new Parameters(declaredTypes, values, wanted);
    }
}
