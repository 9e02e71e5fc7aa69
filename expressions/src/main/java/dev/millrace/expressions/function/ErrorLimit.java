package dev.millrace.expressions.function;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.text.ValueWriter;
import org.apache.arrow.memory.RootAllocator;

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
                                + (isBounded ? number(error) : "any amount") + ", and max_error is " + number(most))
                .withHint(
                        isBounded
                                ? "SET max_error = " + number(error) + ", or ask for error_bound of it"
                                : "SET max_error = off; docs/sketch.md says what has bounds");
    }

    /** As SQL writes it. */
    private static String number(double value) {
        try (RootAllocator memory = new RootAllocator();
                Text text = new Text(memory)) {
            ValueWriter.float8(text.begin(), value);
            text.written();
            return Text.read(text.address, text.length);
        }
    }
}
