package dev.millrace.engine.view;

/**
 * Finds rows of a view by some of their columns, in all their versions: who looks tells the ones that are seen at the version that it
 * pinned, whichever that is. Used with the view's lock held, for some hundred rows at a time, but for what says otherwise. A key is a
 * row in which the columns of the key are set.
 */
interface RowIndex extends AutoCloseable {
    /**
     * Makes sure that so many more rows can be added without asking for memory.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException and nothing was changed that matters
     */
    void reserve(long more);

    /** Adds a row, for which there is room, unless it is there already: while an index is made, rows come from two sides. */
    void add(long row);

    /** Adds rows as {@link #add} does. */
    default void addAll(long[] rows, int count) {
        for (int i = 0; i < count; i++) {
            add(rows[i]);
        }
    }

    /**
     * Takes a step towards room for so many rows in all, where that spares growing while they are added; returns whether it is there.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException and nothing was changed that matters
     */
    default boolean prepare(long rows) {
        return true;
    }

    /** Removes a row, if it was added; its bytes are still there. */
    void remove(long row);

    /** Finds the rows with a key's values, as long as the finder takes more. */
    void find(long key, FoundRows found);

    long bytes();

    @Override
    void close();
}
