package dev.millrace.engine.statistic;

/**
 * How far the subscribers of a query are behind it, together.
 *
 * @param subscribers how many there are
 * @param queuedRows that wait for them; what waits for two is counted twice
 * @param queuedBytes of these rows
 * @param mostQueuedBytes for the one that is behind most
 * @param lagMicros for how long the oldest epoch has waited for its subscriber, by the engine's clock; 0 if none waits
 */
public record SubscriberStatistics(
        int subscribers, long queuedRows, long queuedBytes, long mostQueuedBytes, long lagMicros) {
    /** Of none. */
    public static final SubscriberStatistics NONE = new SubscriberStatistics(0, 0, 0, 0, 0);

    /** With one more. */
    public SubscriberStatistics plus(long rows, long bytes, long micros) {
        return new SubscriberStatistics(
                subscribers + 1,
                queuedRows + rows,
                queuedBytes + bytes,
                Math.max(mostQueuedBytes, bytes),
                Math.max(lagMicros, micros));
    }
}
