package dev.millrace.edge.queue;

/**
 * What became of records up to the place of the input, ever.
 *
 * @param rows taken
 * @param rejected that were no rows
 * @param unneeded rows that stayed at the device, as no query needs them
 * @param lastRejected why the last of those was no row; empty without any
 */
public record TakenCounts(long rows, long rejected, long unneeded, String lastRejected) {
    static final TakenCounts NONE = new TakenCounts(0, 0, 0, "");
}
