package dev.millrace.server.sketched;

import dev.millrace.storage.column.ColumnBounds;
import dev.millrace.storage.column.SortKey;
import dev.millrace.storage.segment.ColumnSegment;
import java.util.ArrayList;
import java.util.List;

/** Where stretches begin, by what a file says of its blocks. */
final class Stretches {
    private Stretches() {}

    /**
     * The first block of each stretch, and the block behind the last.
     *
     * @param series the column {@code #series}
     * @throws dev.millrace.error.MillraceException XX001 if the first block begins none
     */
    static List<Integer> starts(ColumnSegment file, int series) {
        List<Integer> starts = new ArrayList<>();
        for (int block = 0; block < file.blockCount(); block++) {
            ColumnBounds bounds = file.statistics(block, series);
            if (bounds.bounded() && SortKey.toLong(bounds.least()) < 0) {
                starts.add(block);
            } else if (block == 0) {
                throw file.damaged(block, series, "its first row begins nothing");
            }
        }
        starts.add(file.blockCount());
        return starts;
    }
}
