package dev.millrace.format;

import dev.millrace.batch.Closing;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/**
 * Rows that were made of records. Who receives it owns the columns.
 *
 * @param columns those asked for, in that order
 * @param rows in each; there may be none
 * @param records of each row, which record it was made of, not decreasing; empty if row i is record i. A record may have become several
 *     rows, or none.
 * @param weights of each row; empty if each is 1. Formats of changes have others: a row that is deleted has -1.
 */
public record DecodedRows(List<FieldVector> columns, int rows, Optional<int[]> records, Optional<long[]> weights)
        implements AutoCloseable {
    public DecodedRows {
        columns = List.copyOf(columns);
    }

    /** Row i is record i, and each counts once. */
    public static DecodedRows ofAll(List<FieldVector> columns, int rows) {
        return new DecodedRows(columns, rows, Optional.empty(), Optional.empty());
    }

    /** Which record a row was made of. */
    public int record(int row) {
        return records.map(all -> all[row]).orElse(row);
    }

    @Override
    public void close() {
        Closing.all(columns);
    }
}
