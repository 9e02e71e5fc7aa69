package dev.millrace.server.retention;

import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * How far a standing query is with the past of a stream. Where a segment is read in part, rows to come are estimated by it.
 *
 * @param isOver whether it has all of it, and sees what comes; then all else is as it was when it had
 * @param arrivals of the rows that are meant
 * @param entry the last record of the log of which it has all rows
 * @param arrivedMicros when the last row that it has had arrived; empty before the first since it was begun, or the database was opened
 * @param lastEntry the last record that there is
 * @param rows that it has
 * @param allRows that there are; more while rows come
 * @param fraction 0 to 1, never less than before
 * @param rowsPerSecond of the last seconds
 */
public record BackfillProgress(
        String stream,
        boolean isOver,
        ArrivalSpan arrivals,
        long entry,
        OptionalLong arrivedMicros,
        long lastEntry,
        long rows,
        long allRows,
        double fraction,
        double rowsPerSecond) {
    /** How long it takes, as fast as it is; empty if it stands still. */
    public OptionalDouble secondsLeft() {
        long left = allRows - rows;
        return left == 0
                ? OptionalDouble.of(0)
                : rowsPerSecond > 0 ? OptionalDouble.of(left / rowsPerSecond) : OptionalDouble.empty();
    }
}
