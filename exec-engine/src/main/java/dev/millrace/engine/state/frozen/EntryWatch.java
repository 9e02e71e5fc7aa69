package dev.millrace.engine.state.frozen;

import dev.millrace.operator.FrozenState;
import dev.millrace.operator.StateWriter;
import java.io.IOException;

/** Entries of a table that are written while the table changes. By the table's thread. */
public interface EntryWatch extends FrozenState {
    /** An entry is about to change, and to be another than it was, or to leave the table, or was put there and has nothing yet. */
    void beforeChange(long entry);

    /**
     * An entry came into the table from elsewhere, as it was at the moment or changed since; before anything else happens to it.
     *
     * @param isDue whether it is to be written, and nobody has written it or will: then it is written now
     */
    void arrived(long entry, boolean isDue);

    /** Writes what was written before its turn: all of it, or that of key groups of which it is worth a part of its own. */
    void writeEarlier(StateWriter to, boolean all) throws IOException;
}
