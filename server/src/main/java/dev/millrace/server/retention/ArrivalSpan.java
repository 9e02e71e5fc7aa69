package dev.millrace.server.retention;

/**
 * Rows by when they arrived, in microseconds since 1970.
 *
 * @param from the first moment
 * @param to the first moment that is not among them; the greatest of all numbers for ever
 */
public record ArrivalSpan(long from, long to) {
    /** All. */
    public static final ArrivalSpan ALL = new ArrivalSpan(Long.MIN_VALUE, Long.MAX_VALUE);

    boolean hasBegin() {
        return from != Long.MIN_VALUE;
    }

    boolean hasEnd() {
        return to != Long.MAX_VALUE;
    }
}
