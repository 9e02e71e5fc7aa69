package dev.millrace.engine.runtime;

/**
 * What a subscriber wants.
 *
 * @param snapshot begin with the whole current answer, as one epoch
 * @param progress tell also epochs in which nothing changed
 * @param queueBytes how much may wait for the subscriber; a single epoch may be more
 * @param waitWhenFull when the queue is full: true slows the query down (and the queries that share its epochs), false
 *     ends the subscription with an error (53400)
 */
public record SubscriptionOptions(boolean snapshot, boolean progress, long queueBytes, boolean waitWhenFull) {
    /** Changes only; slow subscribers slow the query. */
    public static SubscriptionOptions changes() {
        return new SubscriptionOptions(false, false, 16L << 20, true);
    }

    /** The current answer, then changes. */
    public static SubscriptionOptions withSnapshot() {
        return new SubscriptionOptions(true, false, 16L << 20, true);
    }

    public SubscriptionOptions withProgress() {
        return new SubscriptionOptions(snapshot, true, queueBytes, waitWhenFull);
    }

    public SubscriptionOptions endWhenFull(long newQueueBytes) {
        return new SubscriptionOptions(snapshot, progress, newQueueBytes, false);
    }
}
