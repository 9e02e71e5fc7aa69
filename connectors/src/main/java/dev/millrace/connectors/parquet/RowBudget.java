package dev.millrace.connectors.parquet;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;

/**
 * How much the rows under way hold: a few bytes of a file may stand for very many values, or very large ones. Owned by one thread.
 */
final class RowBudget {
    private static final long MOST_BYTES_OF_BATCH = 16 << 20;
    private static final long MOST_BYTES_OF_ROW = 256 << 20;
    private static final int BYTES_OF_VALUE = 16; // whatever it is, NULL as well

    private long batch;
    private long row;

    void beginBatch() {
        batch = 0;
        row = 0;
    }

    /** A value of the row under way. @param bytes of it, beside what each has */
    void add(int bytes) {
        row += BYTES_OF_VALUE + bytes;
        if (row > MOST_BYTES_OF_ROW) {
            throw MillraceException.user(
                    SqlState.PROGRAM_LIMIT_EXCEEDED, "a row has more than " + MOST_BYTES_OF_ROW + " bytes");
        }
    }

    /** The row is whole; whether the batch may have another. */
    boolean endRow() {
        batch += row;
        row = 0;
        return batch < MOST_BYTES_OF_BATCH;
    }
}
