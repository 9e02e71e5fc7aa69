package dev.millrace.server.differential;

/** What the generator tells apart among types. */
enum Kind {
    INTEGER,
    BIGINT,
    NUMERIC,
    DOUBLE,
    TEXT,
    BOOLEAN,
    TIMESTAMP,
    DATE,
    /** Nothing to compute with. */
    OTHER
}
