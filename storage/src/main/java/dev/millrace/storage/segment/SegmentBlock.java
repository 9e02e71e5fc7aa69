package dev.millrace.storage.segment;

import dev.millrace.storage.column.ColumnBounds;
import java.util.List;

/**
 * Where a block of rows is in its file.
 *
 * @param rows 1 to 32,768
 * @param columns one for each column of the schema
 */
record SegmentBlock(int rows, List<Stored> columns) {
    SegmentBlock {
        columns = List.copyOf(columns);
    }

    /**
     * One of its columns.
     *
     * @param offset in the file
     * @param bytes in the file, from 1
     * @param rawBytes before it was compressed, from 1
     * @param compression as {@link dev.millrace.storage.column.PackedColumn} names it
     * @param checksum of what is in the file
     */
    record Stored(long offset, int bytes, int rawBytes, int compression, int checksum, ColumnBounds statistics) {}
}
