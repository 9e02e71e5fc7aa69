package dev.millrace.engine.subscription;

import java.util.OptionalLong;

/**
 * What a subscriber wants.
 *
 * @param snapshot begin with the whole current answer, as one epoch
 * @param progress tell also epochs in which nothing changed
 * @param queueBytes how much may wait for the subscriber; a single epoch may be more
 * @param whenFull what happens when more would wait
 * @param afterMicros begin with what was committed after this time, as {@link EpochChanges#epochMicros} told it to an earlier
 *     subscriber; without it with what comes from now on
 * @param throughStops whether it goes on while rows that failed stop the query, and begins then, too: for who shows nothing of that
 *     before the query is resumed
 * @param comesAgain whether somebody may go on later behind what was seen: changes are kept for that, from the first such subscriber on
 */
public record SubscriptionOptions(
        boolean snapshot,
        boolean progress,
        long queueBytes,
        WhenFull whenFull,
        OptionalLong afterMicros,
        boolean throughStops,
        boolean comesAgain) {
    /** Of one that ends when rows stop the query, and may come again. */
    public SubscriptionOptions(
            boolean snapshot, boolean progress, long queueBytes, WhenFull whenFull, OptionalLong afterMicros) {
        this(snapshot, progress, queueBytes, whenFull, afterMicros, false, true);
    }

    /** What happens to a subscriber that is too slow, or to the query. */
    public enum WhenFull {
        /** The query waits, and the queries that share its epochs. */
        WAIT,
        /** What has waited longest is dropped and counted: {@link EpochChanges#droppedRows}. */
        DROP_OLDEST,
        /** The subscription ends with an error (53400). */
        END
    }

    private static final long USUAL_BYTES = 16L << 20;

    /** Changes only; slow subscribers slow the query. */
    public static SubscriptionOptions changes() {
        return new SubscriptionOptions(false, false, USUAL_BYTES, WhenFull.WAIT, OptionalLong.empty());
    }

    /** The current answer, then changes. */
    public static SubscriptionOptions withSnapshot() {
        return new SubscriptionOptions(true, false, USUAL_BYTES, WhenFull.WAIT, OptionalLong.empty());
    }

    public SubscriptionOptions withProgress() {
        return new SubscriptionOptions(snapshot, true, queueBytes, whenFull, afterMicros, throughStops, comesAgain);
    }

    public SubscriptionOptions after(long micros) {
        return new SubscriptionOptions(
                snapshot, progress, queueBytes, whenFull, OptionalLong.of(micros), throughStops, comesAgain);
    }

    public SubscriptionOptions whenFull(WhenFull newWhenFull, long newQueueBytes) {
        return new SubscriptionOptions(
                snapshot, progress, newQueueBytes, newWhenFull, afterMicros, throughStops, comesAgain);
    }

    public SubscriptionOptions goingThroughStops() {
        return new SubscriptionOptions(snapshot, progress, queueBytes, whenFull, afterMicros, true, comesAgain);
    }

    /** Of the one subscriber that a query ever has: nothing is kept for others. */
    public SubscriptionOptions withoutReturn() {
        return new SubscriptionOptions(snapshot, progress, queueBytes, whenFull, afterMicros, throughStops, false);
    }

    public SubscriptionOptions endWhenFull(long newQueueBytes) {
        return whenFull(WhenFull.END, newQueueBytes);
    }
}
