package dev.millrace.connector;

/**
 * A part of a source (a file) whose rows have an order of their own: whether a row is late is a matter of the rows before
 * it in its part, so that it does not depend on which reader had which parts.
 *
 * @param number grows from part to part
 * @param firstMicros event time of the part's first row; {@link #UNKNOWN} if nobody looked
 * @param nextMicros the least of those of all parts to come, which the watermark must not pass; {@link #UNKNOWN} holds it
 *     back altogether, {@link #NONE} does not
 */
public record Part(long number, long firstMicros, long nextMicros) {
    public static final long UNKNOWN = Long.MIN_VALUE;
    public static final long NONE = Long.MAX_VALUE;

    /** A source without parts, or of one. */
    public static final Part WHOLE = new Part(0, UNKNOWN, NONE);
}
