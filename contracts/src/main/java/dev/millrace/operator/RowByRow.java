package dev.millrace.operator;

/** An operator that may need long for one row, and says how far it is. */
public interface RowByRow {
    /** How many rows it was done with, counted from the first it ever had; on any thread, about right is enough. */
    long rowsDone();
}
