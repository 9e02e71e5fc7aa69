package dev.millrace.engine.relation;

/**
 * A table that has other columns and rows than before, and could still be as it was: those that read it already go on with what they know
 * until {@link #keep}, and whoever begins to read it has it as it is now. Ends with {@code keep} or {@link #undo}, the last alteration of a
 * table being undone first and kept last. Nobody appends before that.
 */
public interface AlteredTable {
    /** The number of the journal's entry of its rows, 0 for none. */
    long entry();

    /** It stays so: frees what it was. */
    void keep();

    /** It is as it was, with its number of the journal; nobody reads what it was meanwhile. */
    void undo();
}
