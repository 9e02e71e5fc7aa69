package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import java.util.List;
import java.util.Optional;

/**
 * The rows of a table that are in the way of those to be inserted, by the primary key or by a UNIQUE constraint. With the table's lock
 * held.
 */
interface InTheWay {
    /** What tells a row from others; empty if nothing is ever in its way. */
    Optional<String> keyOf(Batch rows, int row);

    /** Whether a row of the table has this key. */
    boolean isTaken(String key);

    /** The rows that have these keys, which are taken, one after the other; the caller owns the batch. */
    Batch rows(List<String> keys);
}
