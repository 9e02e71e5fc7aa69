package dev.millrace.connector;

import java.util.Optional;

/**
 * A sink whose outside sees each row once, whatever is killed when: it shows rows when a checkpoint is on disk that has them, and not before.
 *
 * <pre>
 *   recover -> ( ( write* commit )* prepare(n) -> ( write* commit )* publish(n) )* -> close
 *                                     |                                 |
 *                  rows of all epochs committed so far           checkpoint n is on disk: all that was prepared
 *                  are durable, and not shown: the token         for it is shown. If it came to nothing there is no
 *                  goes into checkpoint n                        publish(n): prepare(n + x) is of those rows too
 * </pre>
 *
 * After a crash the query goes on from the newest checkpoint that was on disk, m, and {@code recover} is given its token: rows that were
 * prepared for m or before are shown if they were not yet, all others are forgotten, for they come again. Numbers of checkpoints grow, with gaps; those
 * behind m may come again. All calls are made by one thread at a time, and may wait for the outside; only this query waits. It may be its query's only sink.
 *
 * <p>A call that throws fails the sink for good: what can be tried again is tried within the call, or later by a thread of the sink's own.
 */
public interface CheckpointedSink extends Sink {
    /**
     * Before any row. Empty if no checkpoint has the sink: then whatever is found of its own, not shown, is of no use.
     *
     * @throws dev.millrace.error.MillraceException if the rows are damaged (XX001) or cannot be shown
     */
    void recover(Optional<PreparedRows> from);

    /**
     * Between epochs: makes all rows that were committed durable where they are. Does not wait for an outside that is away, as all
     * checkpoints of the database wait for this one, for half a minute; then that checkpoint comes to nothing, and there is another later.
     *
     * @param checkpoint greater than that of any call before since the sink was opened
     * @return what {@link #recover} needs to know, {@link PreparedRows#MOST_TOKEN_BYTES} at most
     */
    byte[] prepare(long checkpoint);

    /**
     * The checkpoint is on disk: shows what was prepared for it and before; of no effect if that was shown. May be called with one that the sink was not
     * prepared for, as it was made after its cut.
     */
    void publish(long checkpoint);

    /**
     * Whether it keeps as many rows as it may for an outside that takes none: then whoever makes rows pauses, while those that are on their way are
     * still taken, and checkpoints go on. Any thread; costs next to nothing.
     */
    default boolean isFull() {
        return false;
    }

    /**
     * Whether a call that is under way waits for room on a disk of the database's own: however long that takes, it is not given up as one that waits for the
     * outside is. Any thread; costs next to nothing.
     */
    default boolean waitsForDisk() {
        return false;
    }

    /** Has something run each time that it is not full any more, on any thread. Called once, before {@link #recover}. */
    default void whenRoom(Runnable tell) {}
}
