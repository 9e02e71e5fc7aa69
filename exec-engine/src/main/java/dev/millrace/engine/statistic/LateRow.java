package dev.millrace.engine.statistic;

/**
 * A row that came too late.
 *
 * @param epochMicros when, by the engine's clock
 * @param watermarkMicros the watermark it was behind
 * @param row its values as text, as a composite of PostgreSQL: {@code (1,"two words",)}
 */
public record LateRow(long epochMicros, long watermarkMicros, String row) {
    /** How many are kept per query. */
    public static final int KEPT = 10_000;
}
