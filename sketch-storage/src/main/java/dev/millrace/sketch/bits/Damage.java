package dev.millrace.sketch.bits;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;

/** The errors of a segment that cannot be what a writer wrote. */
public final class Damage {
    private Damage() {}

    /** A segment whose bytes contradict themselves; {@code what} names the part. */
    public static MillraceException damaged(String what) {
        return MillraceException.user(SqlState.DATA_CORRUPTED, "the segment is damaged: " + what);
    }

    /** A length beyond what a segment may hold. */
    public static MillraceException beyondLimit(String what, long actual, long limit) {
        return damaged(what + " is " + actual + ", beyond the limit of " + limit);
    }

    /** Holds what a reader expects of the bytes; {@code what} names the part. */
    public static void check(boolean holds, String what) {
        if (!holds) {
            throw damaged(what);
        }
    }
}
