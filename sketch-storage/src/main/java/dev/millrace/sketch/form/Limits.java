package dev.millrace.sketch.form;

import dev.millrace.sketch.bins.AdaptiveDiscretiser;

/** What a segment may hold at most, so that no bytes from outside can ask for more memory than this. */
public final class Limits {
    /** Rows of one segment. */
    public static final int ROWS = 1 << 20;
    /** Rows times features of one segment. */
    public static final int CELLS = 1 << 23;
    /** Bytes of text of one segment. */
    public static final int TEXT_BYTES = 1 << 24;
    /** Equally likely bins of one feature, injected ones included. */
    public static final int CENTRES = AdaptiveDiscretiser.MOST_CENTRES;
    /** Bytes of one segment. */
    public static final int SEGMENT_BYTES = 1 << 27;

    private Limits() {}
}
