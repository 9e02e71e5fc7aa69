package dev.millrace.connectors.input;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;

/** How many columns are guessed: files with more are none of rows, or have names where there should be values. */
public final class GuessedColumns {
    private static final int MOST = 10_000;

    private GuessedColumns() {}

    /** @throws MillraceException 54000 if these are too many */
    public static void requireFew(int columns) {
        if (columns > MOST) {
            throw MillraceException.user(
                            SqlState.PROGRAM_LIMIT_EXCEEDED,
                            "the files have " + columns + " columns; at most " + MOST + " are guessed")
                    .withHint("declare those that are wanted, or how fields are separated");
        }
    }
}
