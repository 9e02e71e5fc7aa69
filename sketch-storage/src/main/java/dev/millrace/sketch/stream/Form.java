package dev.millrace.sketch.stream;

/** Which form a segment is stored in. */
public enum Form {
    /** Whichever is smallest. The default. */
    SMALLEST,
    /** Feature by feature. */
    COLUMNS,
    /** A dictionary of the features' combinations, and the sequence in which they occur. */
    RUNS,
    /** The published inverted index: a bitmap for each combination. */
    INDEX
}
