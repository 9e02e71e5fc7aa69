package dev.millrace.server.planning;

import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;

/** A text that is like others but for its constants: a statement that they share, and the constants as its parameters. */
public final class AdHoc {
    private final ParsedStatement statement;
    private final Parameters values;
    private final Runnable refuse;

    AdHoc(ParsedStatement statement, Parameters values, Runnable refuse) {
        this.statement = statement;
        this.values = values;
        this.refuse = refuse;
    }

    public ParsedStatement statement() {
        return statement;
    }

    public Parameters values() {
        return values;
    }

    /** Has texts like this be taken one by one for as long as the catalog stays as it is. */
    public void refuse() {
        refuse.run();
    }
}
