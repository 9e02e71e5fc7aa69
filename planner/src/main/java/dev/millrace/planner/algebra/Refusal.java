package dev.millrace.planner.algebra;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;

/** How the planner says no: what is not possible, and the nearest thing that works. */
final class Refusal {
    private Refusal() {}

    static MillraceException of(String what, String instead) {
        return MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, what).withHint(instead);
    }
}
