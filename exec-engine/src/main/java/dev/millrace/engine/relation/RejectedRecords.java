package dev.millrace.engine.relation;

import dev.millrace.connector.RejectedRecord;
import java.util.List;

/**
 * The records of one stream that could not become rows. A record that several queries' readers met counts once.
 *
 * @param count all since CREATE STREAM
 * @param last the newest of those kept ({@link OnError#DEAD_LETTER} only), oldest first
 */
public record RejectedRecords(long count, List<RejectedRecord> last) {
    /** How many are kept per stream. */
    public static final int KEPT = 10_000;

    public RejectedRecords {
        last = List.copyOf(last);
    }
}
