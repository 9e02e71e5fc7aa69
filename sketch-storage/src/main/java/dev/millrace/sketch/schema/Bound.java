package dev.millrace.sketch.schema;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.math.BigDecimal;
import java.math.MathContext;

/**
 * How far a value that is read back may lie from the one that was written; it holds for every single value.
 *
 * @param kind what {@code amount} is
 * @param amount ABSOLUTE: in the feature's unit; OF_RANGE: a share of the range, .01 for 1 %; EXACT: 0
 */
public record Bound(Kind kind, double amount) {
    /** What a bound is measured in. */
    public enum Kind {
        /** Every value comes back bit for bit. */
        EXACT,
        /** In the feature's own unit. */
        ABSOLUTE,
        /** A share of the distance between the smallest and the largest finite value of the stream so far. */
        OF_RANGE
    }

    private static final Bound NONE = new Bound(Kind.EXACT, 0);

    public Bound {
        if (!(amount >= 0) || Double.isInfinite(amount)) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "an error bound must be a number from 0 on, not " + amount);
        }
        if (amount == 0) {
            kind = Kind.EXACT;
        }
    }

    public static Bound exact() {
        return NONE;
    }

    /** At most {@code amount} off, in the feature's unit; 0 is exact. */
    public static Bound absolute(double amount) {
        return new Bound(Kind.ABSOLUTE, amount);
    }

    /**
     * At most this share of the stream's range off. The range is what was seen up to and including a value's own segment,
     * so it is never larger than that of the whole stream.
     */
    public static Bound ofRange(double share) {
        return new Bound(Kind.OF_RANGE, share);
    }

    /** At most this share of a range that is known beforehand. */
    public static Bound ofRange(double share, double low, double high) {
        double amount = high * share - low * share;
        if (!(low <= high) || !(amount < Double.POSITIVE_INFINITY)) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "not a range of values: " + low + " to " + high);
        }
        return absolute(amount);
    }

    /** Reads {@code 1%}, {@code 0.5} (absolute) or {@code 0} (exact). */
    public static Bound parse(String text) {
        String trimmed = text.trim();
        try {
            return trimmed.endsWith("%")
                    ? ofRange(Double.parseDouble(trimmed.substring(0, trimmed.length() - 1)) / 100)
                    : absolute(Double.parseDouble(trimmed));
        } catch (NumberFormatException e) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "not an error bound: " + text + "; write 1% (of the range), 0.5 (absolute) or 0 (exact)");
        }
    }

    /** The bound in the feature's unit, given the finite range; 0 means exact. */
    public double absolute(double low, double high) {
        return switch (kind) {
            case EXACT -> 0;
            case ABSOLUTE -> amount;
            case OF_RANGE -> low <= high ? Math.max(0, Math.min(high * amount - low * amount, Double.MAX_VALUE)) : 0;
        };
    }

    @Override
    public String toString() {
        return switch (kind) {
            case EXACT -> "exact";
            case ABSOLUTE -> rounded(amount);
            case OF_RANGE -> rounded(amount * 100) + "%";
        };
    }

    /** In six digits: a bound is often a product that is a hair off what was asked for. */
    private static String rounded(double number) {
        return new BigDecimal(number)
                .round(new MathContext(6))
                .stripTrailingZeros()
                .toPlainString();
    }
}
