package dev.millrace.engine.checkpoint;

import dev.millrace.error.MillraceException;
import java.util.Map;
import java.util.Optional;

/**
 * An engine that is being opened from a checkpoint: until this is closed no rows flow, and relations and queries that are declared
 * begin with what the checkpoint has under their names. They are declared as they were when it was made, each after those that it
 * reads. Rows appended meanwhile wait: so does who appends them. Safe on any thread.
 *
 * <p>What the checkpoint has of rows and state is read side by side while others are declared, by threads of the engine; who reads a
 * table or an answer waits until its rows are there.
 */
public interface Resumption extends AutoCloseable {
    /** Queries that were started without state though the checkpoint knows them, and why. */
    Map<String, String> begunAnew();

    /** What went wrong first when the checkpoint was read: it is damaged (XX001), or could not be read (58030). */
    Optional<MillraceException> failure();

    /**
     * Waits until all that is declared has its rows and state, and has queries go on with it.
     *
     * @throws MillraceException what could not be read or found no room: then some have nothing, and the engine is to be closed
     */
    void await();

    /**
     * All is declared, and {@link #await} returned: rows flow. What the checkpoint has and nobody declared is left. Before that, what is
     * not read yet never is, and the engine is to be closed. Once.
     */
    @Override
    void close();
}
