package dev.millrace.connector;

/** What keeps a table like one of another database. Made once per CREATE TABLE; safe on any thread, and holds no resources of its own. */
public interface TableFeed {
    /** Whether {@link FedTable#position} is kept: else each run begins as the first. */
    boolean hasPosition();

    /** Whether there are records that may become no change ({@link FedTable#reject}): then the table has an option {@code on_error}. */
    default boolean rejects() {
        return false;
    }

    /**
     * Looks whether the outside can be reached and has what the options say. CREATE calls it, and a restart does not, as the outside may be away
     * then and come back. Waits some seconds at most.
     *
     * @throws dev.millrace.error.MillraceException with one clear line when it cannot
     */
    default void check() {}

    /**
     * Brings changes until it is interrupted. Called by a thread that may wait; again after a while when it has thrown, with the position that the
     * table then has.
     *
     * @throws dev.millrace.error.MillraceException why it cannot go on, for users
     * @throws InterruptedException when the thread was interrupted: the table, or the database, is closed
     */
    void run(FedTable table) throws InterruptedException;

    /**
     * The table is dropped: what the feed has made outside goes, as far as the outside can be reached. Called when it does not run, and will not
     * again. Waits some seconds at most; what it throws is logged.
     */
    default void forget() {}
}
