package dev.millrace.edge.queue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.function.LongSupplier;

/**
 * How a queue keeps house.
 *
 * @param bytes that its files have at most, together; one commit more while it is made
 * @param records that wait at most, as each takes {@link #RECORD_BYTES} of memory; one commit more, likewise
 * @param coarsest how often records are merged to a bound four times as wide
 * @param identities drawn at random
 */
public record QueueOptions(long bytes, int records, WhenFull whenFull, int coarsest, LongSupplier identities) {
    public static final long LEAST_BYTES = 1 << 20;
    public static final int LEAST_RECORDS = 256;
    /** What a record that waits takes of the heap, about. */
    public static final int RECORD_BYTES = 200;

    private static final int FILES = 16;

    public QueueOptions {
        if (bytes < LEAST_BYTES || records < LEAST_RECORDS || coarsest < 0 || coarsest > 10) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "a queue has at least " + LEAST_BYTES + " bytes and " + LEAST_RECORDS
                            + " records and is merged 0 to 10 times, not " + bytes + ", " + records + " and "
                            + coarsest);
        }
    }

    /** After how many bytes a new file begins. */
    long fileBytes() {
        return bytes / FILES;
    }

    /** After how many records a new file begins. */
    int fileRecords() {
        return records / FILES;
    }
}
