package dev.millrace.edge.queue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.function.LongSupplier;

/**
 * How a queue keeps house.
 *
 * @param bytes that its files have at most, together; one commit more while it is made
 * @param coarsest how often records are merged to a bound four times as wide
 * @param identities drawn at random
 */
public record QueueOptions(long bytes, WhenFull whenFull, int coarsest, LongSupplier identities) {
    public static final long LEAST_BYTES = 1 << 20;
    private static final int FILES = 16;

    public QueueOptions {
        if (bytes < LEAST_BYTES || coarsest < 0 || coarsest > 10) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "a queue has at least " + LEAST_BYTES + " bytes and is merged 0 to 10 times, not " + bytes + " and "
                            + coarsest);
        }
    }

    /** After how many bytes a new file begins. */
    long fileBytes() {
        return bytes / FILES;
    }
}
