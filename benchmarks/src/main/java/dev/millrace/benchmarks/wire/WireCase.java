package dev.millrace.benchmarks.wire;

/** What is measured. Names are the options' values. */
enum WireCase {
    COPY_IN_TEXT,
    COPY_IN_BINARY,
    COPY_OUT,
    INSERT_100,
    INSERT_1,
    SELECT_1,
    SUBSCRIBE,
    LATENCY,
    CROWD;

    /** Whether PostgreSQL can be asked the same. */
    boolean isCommon() {
        return this != SUBSCRIBE && this != LATENCY && this != CROWD;
    }
}
