package dev.millrace.text;

/**
 * How a session writes bytes and floating-point numbers: PostgreSQL's settings {@code bytea_output} and {@code extra_float_digits}.
 *
 * @param escapesBytes whether bytes are written as characters with escapes ({@code abc\000}), and not in hexadecimal digits
 * @param floatDigits 1 for the shortest digits that read back as the same number; 0 and less for that many more than 15 digits, or 6 of REAL, to
 *     which a number is rounded
 */
public record OutputStyle(boolean escapesBytes, int floatDigits) {
    public static final OutputStyle PLAIN = new OutputStyle(false, 1);

    private static final int DOUBLE_DIGITS = 15;
    private static final int REAL_DIGITS = 6;

    public OutputStyle {
        floatDigits = Math.min(1, floatDigits); // beyond 0 all are the same
    }

    boolean rounds() {
        return floatDigits < 1;
    }

    /** The digits that a DOUBLE is rounded to. */
    int doubleDigits() {
        return Math.max(1, DOUBLE_DIGITS + floatDigits);
    }

    /** The digits that a REAL is rounded to. */
    int realDigits() {
        return Math.max(1, REAL_DIGITS + floatDigits);
    }
}
