package dev.millrace.engine.checkpoint;

import dev.millrace.error.MillraceException;
import java.util.Map;
import java.util.Optional;

/**
 * An engine that is being opened from a checkpoint. Safe on any thread.
 *
 * <pre>
 *   relations and queries are declared, as they were when it was made, each after those that it reads: they begin with what the
 *   checkpoint has under their names; no rows flow, and who appends some waits
 *     declared() -> rows flow; of those of queries whose state is being read as many wait as there is room for
 *     await()    -> all have their state, and go on with the rows that wait; before declared() or after it
 * </pre>
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
     * @throws MillraceException what could not be read or found no room: then queries that have no state failed, and the engine is to be
     *     closed
     */
    void await();

    /** All is declared: rows flow, and what the checkpoint has and nobody declared is left. Once. */
    void declared();

    /**
     * After {@link #await}, and {@link #declared} unless that is to be now. Before that, what is not read yet never is, and the engine is
     * to be closed. Once.
     */
    @Override
    void close();
}
