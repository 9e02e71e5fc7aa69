package dev.millrace.connectors.envelope;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.List;

/** What surrounds the rows in records of changes: the option {@code envelope}. */
public enum Envelope {
    /** As Debezium writes them: the row before, the row after, and what happened. */
    DEBEZIUM,
    /** The newest row of each key; a null value if there is none any more. */
    UPSERT;

    /** The name of the option. */
    public static final String OPTION = "envelope";

    /** The options, for help. */
    public static final List<OptionDescription> DESCRIPTIONS = List.of(
            new OptionDescription(
                    OPTION, "", "of a table: debezium (before, after, op) or upsert (the newest row of each key)"),
            new OptionDescription(
                    "key.format",
                    "text for a key of one column, else json",
                    "upsert: of the records' keys; key.<option> are the options of that format"));

    /** Fails where rows of a stream are to be read out of an envelope. */
    public static void refuseInStream(Options options) {
        if (options.text(OPTION).isPresent()) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "option \"envelope\" is of tables: a stream has no rows that change or go")
                    .withHint("CREATE TABLE t (.., PRIMARY KEY (..)) WITH (connector = .., envelope = ..)");
        }
    }

    /** Reads the option, which must be there. */
    static Envelope read(Options options) {
        options.required(OPTION);
        return options.oneOf(OPTION, DEBEZIUM);
    }
}
