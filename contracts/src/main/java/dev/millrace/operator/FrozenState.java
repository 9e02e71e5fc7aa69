package dev.millrace.operator;

import java.io.IOException;

/** The state of an operator as of one moment, on its way to where it is kept. By the operator's thread, between its other calls. */
public interface FrozenState extends AutoCloseable {
    /**
     * Whether this is all of the state; else what changed since the frozen states that are {@link Freezing.Kept kept}, and a reader gets
     * what these wrote first. It writes states of other names then.
     */
    boolean isWhole();

    /**
     * Writes some more: what takes some milliseconds. Key groups are begun any number of times, and each time have other entries.
     *
     * @return whether all is written
     * @throws IOException what the writer's outputs throw; then it can only be closed
     */
    boolean writeMore(StateWriter writer) throws IOException;

    /** The operator need not mind it any more. Idempotent, also once the operator was closed. */
    @Override
    void close();
}
