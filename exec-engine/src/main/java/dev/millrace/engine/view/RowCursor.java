package dev.millrace.engine.view;

/** A place in the list of a view's rows, where somebody goes on later. With the view's lock held. */
interface RowCursor {
    /** Where to begin, 0 for no rows. */
    void goOnAt(long node);

    /** A row is about to be freed. */
    void leaving(long node, long following);
}
