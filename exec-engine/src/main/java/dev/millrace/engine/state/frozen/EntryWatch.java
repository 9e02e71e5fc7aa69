package dev.millrace.engine.state.frozen;

import dev.millrace.operator.FrozenState;

/** Entries of a table that are written while the table changes. By the table's thread. */
public interface EntryWatch extends FrozenState {
    /** An entry is about to change, and to be another than it was, or to leave the table, or was put there and has nothing yet. */
    void beforeChange(long entry);
}
