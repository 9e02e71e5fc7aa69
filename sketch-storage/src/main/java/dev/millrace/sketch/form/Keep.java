package dev.millrace.sketch.form;

/** What a stored segment must remain good for. */
public enum Keep {
    /** Quick to query and to read: nothing that has to be decoded bit by bit. The default. */
    QUERYABLE,
    /** As small as can be; counts, sums and filters of one feature still come from its histogram. */
    ARCHIVAL
}
