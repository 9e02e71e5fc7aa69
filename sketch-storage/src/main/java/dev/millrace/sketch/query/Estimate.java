package dev.millrace.sketch.query;

/**
 * An answer and how far the true one may be from it. Numbers are ordered as in SQL: NaN is larger than all others, and -0
 * equals 0.
 *
 * @param value what the sketch says; NaN also where that is NULL, because no row is seen
 * @param low at most the true answer, if that is not NULL
 * @param high at least the true answer, if that is not NULL
 * @param presence whether any row takes part; where it is not certain, the true answer may be NULL
 */
public record Estimate(double value, double low, double high, Presence presence) {
    /** Of no rows: NULL. */
    public static final Estimate NONE = new Estimate(Double.NaN, Double.NaN, Double.NaN, Presence.NONE);

    /** What is known of the rows that take part. Each includes what is before it. */
    public enum Presence {
        /** There are none. */
        NONE,
        /** There may be some, though the sketch shows none. */
        POSSIBLE,
        /** The sketch shows some, but within its errors there may be none. */
        SEEN,
        /** There are some. */
        CERTAIN
    }

    /** A number of rows or values, which is never NULL. */
    static Estimate count(long seen, long certain, long possible) {
        return new Estimate(seen, certain, possible, Presence.CERTAIN);
    }

    static Estimate of(double value, double low, double high, Presence presence) {
        if (presence == Presence.NONE) {
            return NONE;
        }
        if (presence == Presence.POSSIBLE) {
            return new Estimate(Double.NaN, low, high, presence);
        }
        return new Estimate(
                value,
                Double.compare(value, low) < 0 ? value : low,
                Double.compare(value, high) > 0 ? value : high,
                presence);
    }

    /** Whether the sketch's own answer is NULL. */
    public boolean isNull() {
        return presence == Presence.NONE || presence == Presence.POSSIBLE;
    }

    /** Whether the answer is the true one. */
    public boolean isExact() {
        return presence == Presence.NONE || presence == Presence.CERTAIN && Double.compare(low, high) == 0;
    }

    /** Whether a true answer is one that this allows: {@code holds(NaN)} asks for the number NaN. */
    public boolean allows(double truth) {
        return presence != Presence.NONE
                && Double.compare(truth + 0.0, low + 0.0) >= 0
                && Double.compare(truth + 0.0, high + 0.0) <= 0;
    }

    /** Whether the true answer may be NULL. */
    public boolean allowsNull() {
        return presence != Presence.CERTAIN;
    }
}
