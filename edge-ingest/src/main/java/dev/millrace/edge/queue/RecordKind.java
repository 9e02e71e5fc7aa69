package dev.millrace.edge.queue;

/** What the numbers of a record became. */
public enum RecordKind {
    /** A segment of a sketch. */
    SEGMENT,
    /** Several segments that were merged to a wider bound, as one that can be read alone. */
    COARSER,
    /** Thrown away, as there was no room. */
    SHED,
    /** Not found on the disk any more, though it was written; how many rows nobody knows. */
    LOST,
    /** Records of the input that were no rows, as {@link RejectedLines}. */
    REJECTED,
    /** Partial aggregates of windows, in the place of rows that stay at the device. */
    PARTIALS;

    /** Whether there are rows, one by one. */
    public boolean hasRows() {
        return this == SEGMENT || this == COARSER;
    }

    /** Whether there is anything that can be thrown away. */
    boolean hasBytes() {
        return hasRows() || this == REJECTED || this == PARTIALS;
    }
}
