package dev.millrace.engine.subscription;

import dev.millrace.type.Schema;
import java.util.Optional;

/** The output of a standing query, whole epochs in order. Used by one thread at a time; {@link #close} by any. */
public interface Subscription extends AutoCloseable {
    Schema schema();

    /**
     * The next epoch; the caller closes it. Waits at most {@code timeoutMicros}; empty when nothing came in that time or
     * ever will ({@link #isFinished}).
     *
     * @throws dev.millrace.error.MillraceException if the query failed, or the subscriber was too slow
     */
    Optional<EpochChanges> next(long timeoutMicros);

    /** Whether the query finished or was dropped and everything was taken. */
    boolean isFinished();

    /** Whether it ended because the subscriber was too slow, which {@link #next} says once the rest was taken. On any thread. */
    default boolean isOverrun() {
        return false;
    }

    /** Ends the subscription; wakes a waiting {@link #next}. */
    @Override
    void close();
}
