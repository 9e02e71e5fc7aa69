package dev.millrace.expressions.function;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;

/** Refuses answers that may be further off than was asked for. */
public final class ErrorLimit {
    private ErrorLimit() {}

    /**
     * True if a value may be off by no more than allowed.
     *
     * @throws MillraceException 22000 if it may, with the column's name
     */
    public static boolean check(double error, double most, long name, int nameLength) {
        if (error <= most) {
            return true;
        }
        boolean isBounded = error < Double.POSITIVE_INFINITY;
        throw MillraceException.user(
                        SqlState.DATA_EXCEPTION,
                        "column \"" + Text.read(name, nameLength) + "\" may be off by "
                                + (isBounded ? String.valueOf(error) : "any amount") + ", and max_error is " + most)
                .withHint(
                        isBounded
                                ? "SET max_error = " + error + ", or ask for error_bound of it"
                                : "SET max_error = off; docs/sketch.md says what has bounds");
    }
}
