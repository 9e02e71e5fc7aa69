package dev.millrace.storage.log;

/** What becomes of a record while the disk does not take it. */
public enum LogMode {
    /** Its writer waits until it is durable and does not count on it before: while the disk fails, it fails. */
    AWAITED,
    /** Nobody waits: kept in memory until it is durable, whatever the disk does meanwhile; lost only when the process ends before. */
    DEFERRED
}
