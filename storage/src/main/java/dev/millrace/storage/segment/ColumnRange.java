package dev.millrace.storage.segment;

import dev.millrace.storage.column.SortKey;
import java.util.Optional;

/**
 * Values of a column, both bounds included: blocks that have none of them are skipped, and of others all rows are read. NULL is in no range.
 *
 * @param column of the schema
 * @param low a {@link SortKey}; empty for no bound
 * @param high a {@link SortKey}; empty for no bound
 */
public record ColumnRange(int column, Optional<byte[]> low, Optional<byte[]> high) {
    /** Integers or times, in the unit of the column's type. */
    public static ColumnRange of(int column, long low, long high) {
        return new ColumnRange(column, Optional.of(SortKey.ofLong(low)), Optional.of(SortKey.ofLong(high)));
    }
}
