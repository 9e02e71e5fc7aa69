package dev.millrace.connectors.upsert;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;

/** The option {@code key}: the columns that identify a row, between commas. */
public final class KeyOption {
    private KeyOption() {}

    /**
     * Reads the option.
     *
     * @return places in the schema, in the order of the option; none where it is not given
     * @throws MillraceException 42703 for a column that is not there
     */
    public static List<Integer> read(Schema schema, Options options) {
        List<Integer> columns = new ArrayList<>();
        for (String name : options.text("key", "").split(",")) {
            String column = name.strip();
            if (column.isEmpty()) {
                continue;
            }
            int place = schema.indexOf(column);
            if (place < 0) {
                MillraceException error = MillraceException.user(
                        SqlState.UNDEFINED_COLUMN, "column \"" + column + "\" of option \"key\" does not exist");
                throw Suggestion.nearest(column, schema.names())
                        .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                        .orElse(error);
            }
            columns.add(place);
        }
        return List.copyOf(columns);
    }
}
