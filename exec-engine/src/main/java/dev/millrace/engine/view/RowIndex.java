package dev.millrace.engine.view;

/**
 * Finds rows of a view by some of their columns, in all their versions: who looks tells the ones that are seen. Used with the
 * view's lock held.
 */
interface RowIndex extends AutoCloseable {
    /**
     * Makes sure that so many more rows can be added without asking for memory.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException and nothing was changed that matters
     */
    void reserve(long more);

    /** Adds a row, for which there is room. */
    void add(long row);

    /** Removes a row that was added; its bytes are still there. */
    void remove(long row);

    long bytes();

    @Override
    void close();
}
