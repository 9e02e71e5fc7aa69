package dev.millrace.operator;

/**
 * What an operator counts about itself beyond what its host sees (rows, batches, CPU time). Written by the operator's
 * thread; readers on other threads see values at most one batch old.
 */
public final class OperatorMetrics {
    // Written by the operator's thread, read by statistics queries.
    private volatile long lateRows;
    private volatile long stateBytes;
    private volatile long stateEntries;
    private volatile long forgotten;

    public void addLateRows(long rows) {
        lateRows += rows;
    }

    /** Groups or rows dropped because they were kept for long enough, though rows to come might have met them. */
    public void addForgotten(long entries) {
        forgotten += entries;
    }

    /** Bytes held for state now. */
    public void stateSize(long bytes, long entries) {
        stateBytes = bytes;
        stateEntries = entries;
    }

    /** Rows dropped because their windows were closed, since the start. */
    public long lateRows() {
        return lateRows;
    }

    public long stateBytes() {
        return stateBytes;
    }

    /** Groups or rows that {@code state_ttl} had it forget, since the start. */
    public long forgotten() {
        return forgotten;
    }

    /** Groups, rows or keys held. */
    public long stateEntries() {
        return stateEntries;
    }
}
