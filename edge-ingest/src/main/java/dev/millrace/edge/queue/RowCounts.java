package dev.millrace.edge.queue;

/**
 * What became of records up to the place of the input, ever.
 *
 * @param rows taken
 * @param rejected that were no rows
 * @param lastRejected why the last of them was none; empty without any
 */
public record RowCounts(long rows, long rejected, String lastRejected) {
    static final RowCounts NONE = new RowCounts(0, 0, "");
}
