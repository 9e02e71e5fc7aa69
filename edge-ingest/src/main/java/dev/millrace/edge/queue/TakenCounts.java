package dev.millrace.edge.queue;

/**
 * What became of records up to the place of the input, ever.
 *
 * @param rows taken
 * @param rejected that were no rows
 * @param lastRejected why the last of them was none; empty without any
 */
public record TakenCounts(long rows, long rejected, String lastRejected) {
    static final TakenCounts NONE = new TakenCounts(0, 0, "");
}
