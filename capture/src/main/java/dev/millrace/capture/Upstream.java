package dev.millrace.capture;

import java.util.Map;

/** A kind of database whose log is followed: what Debezium is told of it, and what it is asked beside Debezium. Safe on any thread. */
interface Upstream {
    /** Debezium's properties for one run, with what references stand for. */
    Map<String, String> properties(SourceTable table);

    /**
     * Looks whether the table can be followed.
     *
     * @throws dev.millrace.error.MillraceException why not
     */
    void check(SourceTable table);

    /**
     * Looks whether what comes after an offset is still to be had.
     *
     * @param offset of Debezium
     * @throws dev.millrace.error.MillraceException why not
     */
    void checkGoesOn(SourceTable table, Map<String, Object> offset);

    /**
     * Looks whether the database answers, while nothing comes of it.
     *
     * @throws dev.millrace.error.MillraceException why not
     */
    void requireThere(SourceTable table);

    /** Removes what was made in the database for the table. */
    void forget(SourceTable table);

    /** An offset for users. */
    String text(Map<String, Object> offset);
}
