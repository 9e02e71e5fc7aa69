package dev.millrace.connectors.outbox;

import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * Takes records to an outside that can keep a number beside them in one step. Called by the outbox's thread alone, from its making on but for {@link
 * #check}; may wait for as long as the outside takes, but leaves when the thread is interrupted.
 *
 * <p>What fails with the outside's fault or for lack of resources ({@link dev.millrace.error.MillraceException#fault}) is tried again, after a while that grows to half a minute:
 * first {@link #lastDelivered} is asked, as nobody knows whether the outside had taken it. Any other failure is the sink's end.
 */
public interface Delivery extends AutoCloseable {
    /** The records of one file, in their order. */
    interface Records {
        long count();

        /** Gives each record, valid until the call returns, from the first on at each call. */
        void forEach(Consumer<ByteBuffer> record);
    }

    /** Looks whether the outside can be reached, for CREATE; by the thread that makes the sink. Waits some seconds at most. */
    default void check() {}

    /**
     * The number of the newest records that the outside has; 0 if it has none. Whoever delivered before this and is thought to be dead can deliver nothing
     * after it.
     */
    long lastDelivered();

    /**
     * Has the outside take records and keep their number, both or none. Returns when it has.
     *
     * @param number greater than that of what was delivered before
     */
    void deliver(long number, Records records);

    /** Lets go of the outside; by the outbox's thread, or the one that made the sink if that never ran. */
    @Override
    void close();
}
