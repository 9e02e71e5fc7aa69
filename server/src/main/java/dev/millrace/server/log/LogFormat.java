package dev.millrace.server.log;

/** How events are written. */
public enum LogFormat {
    /** Lines for people. */
    TEXT,
    /** An object per line. */
    JSON
}
