package dev.millrace.operator;

/**
 * What an operator counts about itself beyond what its host sees (rows, batches, CPU time). Written by the operator's
 * thread; readers on other threads see values at most one batch old.
 */
public final class OperatorMetrics {
    private volatile long lateRows; // written by the operator's thread, read by statistics queries
    private volatile long stateBytes; // likewise
    private volatile long stateEntries; // likewise

    public void addLateRows(long rows) {
        lateRows += rows;
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

    /** Groups, rows or keys held. */
    public long stateEntries() {
        return stateEntries;
    }
}
