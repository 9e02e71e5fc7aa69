package dev.millrace.sql.bind.type;

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
 * @param timeZone of TIMESTAMPTZs in the statement and in the values, as {@link dev.millrace.text.TimeZones} knows it; empty for UTC
 */
public record Parameters(
        List<DataType> declaredTypes, Optional<List<Optional<String>>> values, Optional<String> timeZone) {
    public Parameters {
        declaredTypes = List.copyOf(declaredTypes);
        values = values.map(List::copyOf);
    }

    /** A statement without parameters. */
    public static Parameters none() {
        return new Parameters(List.of(), Optional.of(List.of()), Optional.empty());
    }

    /** To find the types of the parameters and of the result. */
    public static Parameters toDescribe(List<DataType> declaredTypes) {
        return new Parameters(declaredTypes, Optional.empty(), Optional.empty());
    }

    /** To run a statement. */
    public static Parameters of(List<DataType> declaredTypes, List<Optional<String>> values) {
        return new Parameters(declaredTypes, Optional.of(values), Optional.empty());
    }

    /** The same in a time zone. */
    public Parameters inZone(Optional<String> zone) {
        return zone.equals(timeZone) ? this : new Parameters(declaredTypes, values, zone);
    }
}
