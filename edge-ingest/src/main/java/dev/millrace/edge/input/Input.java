package dev.millrace.edge.input;

import java.util.Optional;

/** Brings records, each a line. Of the agent's thread, but for what is said to be of any. */
public interface Input extends AutoCloseable {
    /**
     * Adds records that are there; waits for none.
     *
     * @return whether there were any
     */
    boolean poll(LineMemory into);

    /** The place behind what was polled, from which it can be read again; empty where it cannot. */
    default Optional<String> place() {
        return Optional.empty();
    }

    /** What was polled is on disk, all of it. */
    default void committed() {}

    /** Whether somebody waits for that, so that it should not take its time. */
    default boolean wantsCommit() {
        return false;
    }

    /** Whether nothing comes any more. */
    boolean isFinished();

    /** Records that were passed over as they were too long. */
    default long tooLong() {
        return 0;
    }

    /** What is wrong with it for now. */
    default Optional<String> problem() {
        return Optional.empty();
    }

    @Override
    void close();
}
