package dev.millrace.engine.over;

import org.apache.arrow.vector.FieldVector;

/** Computes some calls of an OVER for consecutive rows of the partition that {@link OrderedRows} shows. */
interface Calls extends AutoCloseable {
    /** What is kept between epochs for the partition that is shown next is at these words, 0 at first. */
    default void select(long words) {}

    /** A row came or went; before {@link #begin}, in ascending order, and {@link #endChanges} after the last. */
    default void changed(int index, long row, boolean came) {}

    default void endChanges() {}

    /** Frees what the words selected stand for. */
    default void forget() {}

    /** The next rows to compute begin anywhere. Results of all rows before are in their {@link KeptRow#result}. */
    void begin(int from);

    /**
     * Computes the rows from {@code from}, where the last call ended, to {@code to}.
     *
     * @param results receives a vector per call, at the call's position in the node; the caller owns them
     */
    void compute(int from, int to, FieldVector[] results);

    /** The first row that this and later rows' results still depend on, once {@code row} was computed last. */
    int stillNeeded(int row);

    @Override
    void close();
}
