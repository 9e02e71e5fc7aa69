package dev.millrace.text;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** Writes floating-point numbers rounded to some digits, as C's {@code %.15g}: for sessions that ask for it, one allocation a number. */
final class RoundedDecimal {
    private static final int LEAST_FIXED = -4; // the exponent from which on notation is fixed

    private RoundedDecimal() {}

    static void write(TextBuffer out, double value, int digits) {
        if (value == 0 || Double.isNaN(value) || Double.isInfinite(value)) {
            ShortestDecimal.write(out, value);
            return;
        }
        BigDecimal rounded = new BigDecimal(value)
                .round(new MathContext(digits, RoundingMode.HALF_EVEN))
                .stripTrailingZeros();
        int exponent = rounded.precision() - rounded.scale() - 1;
        if (exponent >= LEAST_FIXED && exponent < digits) {
            out.appendAscii(rounded.toPlainString());
            return;
        }
        String shown = rounded.unscaledValue().abs().toString();
        out.appendAscii((value < 0 ? "-" : "") + shown.charAt(0));
        if (shown.length() > 1) {
            out.appendAscii("." + shown.substring(1));
        }
        int distance = Math.abs(exponent);
        out.appendAscii((exponent < 0 ? "e-" : "e+") + (distance < 10 ? "0" : "") + distance);
    }
}
