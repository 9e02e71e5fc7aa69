package dev.millrace.plan.node;

/**
 * When a stateful operator forgets what no watermark would let it drop: the option {@code state_ttl}.
 *
 * <p>A group, or the partition of a ranking, is forgotten when no row of it came for so long: its rows leave the answer, and
 * a row that comes later begins it anew. Time is that of {@code timeColumn} of the input: a group is over once the watermark
 * has passed its last row by {@code ttlMicros}, or when its next row is later than the last by more than that. So what is
 * forgotten follows from the rows and their order, not from batches; only a row behind the watermark may find its group
 * gone or not.
 *
 * @param timeColumn of the input, which is append-only and has watermarks for it
 * @param ttlMicros positive
 */
public record Forgetting(int timeColumn, long ttlMicros) {
    public Forgetting {
        if (ttlMicros <= 0) {
            throw new IllegalArgumentException("state is kept for " + ttlMicros + " microseconds");
        }
    }
}
