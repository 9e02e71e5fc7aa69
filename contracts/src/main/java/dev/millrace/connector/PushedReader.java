package dev.millrace.connector;

/**
 * Rows that are brought by others, in the order in which they came. {@link #poll} gives a batch also for records that all were rejected,
 * of no rows, so that whoever brought them is told.
 *
 * <pre>
 *   poll() -> batch n, remembered()  ->  both are accepted in one step  ->  both are on disk  ->  acknowledge(n)
 * </pre>
 *
 * What waits in it is bounded: peers that can wait are made to, and of the others it sheds, counts and tells ({@link SplitStatus}).
 */
public interface PushedReader extends SourceReader {
    /** After a poll that gave a batch: what it is to remember with these rows, both or neither. Safe to ask again. */
    default MemoryChange remembered() {
        return MemoryChange.NONE;
    }

    /**
     * The first so many batches that it gave are kept; also those before. Between two polls, by the thread that polls. Takes no longer than
     * to send a message, and fails for no peer that is gone.
     *
     * @param batches since it was opened; grows from call to call
     */
    void acknowledge(long batches);

    /**
     * The stream was dropped: what peers keep for it is not wanted any more. Before it is closed, by the thread that polls; waits a moment at
     * most.
     */
    default void dropped() {}
}
