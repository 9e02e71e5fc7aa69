package dev.millrace.engine.relation;

/** What happens to a record of a source that cannot become a row: {@code on_error} of CREATE STREAM. */
public enum OnError {
    /** The query that reads it fails; for a live stream every reader does. */
    FAIL,
    /** The record is counted. */
    SKIP,
    /** The record is counted, and kept with its reason (the last {@link RejectedRecords#KEPT} of a stream). */
    DEAD_LETTER
}
