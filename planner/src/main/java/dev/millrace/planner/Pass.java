package dev.millrace.planner;

import java.util.List;
import java.util.Set;

/**
 * A step of {@link Planner#plan} over the whole plan, with what must have been done to the plan before it. The constants stand
 * in the order in which they run; {@link Passes} refuses another one that a pass could not stand.
 */
enum Pass {
    /** Constants folded, projections merged, filters as far down as they go. Runs again behind passes that leave work for it. */
    SIMPLIFY,
    /** Comparisons of the clock that are decided for ever: conditions must stand alone, with their constants folded. */
    DECIDE_BY_CLOCK(SIMPLIFY),
    /** What is decided for ever must not become a filter that waits for its time. */
    RECOGNIZE_TIME_FILTERS(DECIDE_BY_CLOCK),
    /** Refuses what still reads the clock and is no filter by time. */
    CHECK_CLOCK(RECOGNIZE_TIME_FILTERS),
    /** Scans that may give alike rows as one: windows above these are no operators of their own. */
    CONDENSE(SIMPLIFY),
    /** Windows that speak at their close: they are known by a grouping right above a window's columns. */
    RECOGNIZE_WINDOWS(SIMPLIFY, CHECK_CLOCK, CONDENSE),
    /** Joins of a window with its own extreme are windows, not joins by time. */
    RECOGNIZE_INTERVAL_JOINS(SIMPLIFY, RECOGNIZE_WINDOWS),
    /** Bounds by constants are cheaper than bounds by columns, and are taken first. */
    RECOGNIZE_LIFETIME_JOINS(RECOGNIZE_INTERVAL_JOINS),
    /** Refuses the joins by time that no pass before it has made possible. */
    CHECK_TIMED_JOINS(RECOGNIZE_LIFETIME_JOINS),
    /** Refuses sessions that never close, of the windows that were recognized. */
    CHECK_SESSIONS(RECOGNIZE_WINDOWS),
    /** Rankings and running aggregates: whether their rows are ever taken back follows from the joins below. */
    RECOGNIZE_OVER(SIMPLIFY, CHECK_TIMED_JOINS),
    /** Rows that nothing else closes wait for the watermark: all that could close them is known. */
    HOLD(RECOGNIZE_OVER),
    /** Refuses row patterns over rows that may be taken back, as the passes before have left them. */
    CHECK_MATCHES(RECOGNIZE_OVER),
    /** What state_ttl lets go: only of operators that nothing better bounds, so all that bound state come first. */
    FORGET(RECOGNIZE_INTERVAL_JOINS, RECOGNIZE_LIFETIME_JOINS, RECOGNIZE_OVER, HOLD),
    /** EMIT EVERY, above all that has been recognized. */
    PACE(FORGET),
    /** What is late for a plan's windows and joins by time, all of which must be known. */
    PLACE_WATERMARKS(PACE, CHECK_MATCHES),
    /** Unused columns: those that watermarks read are used. */
    PRUNE(PLACE_WATERMARKS),
    /** One read of a relation, of the columns that are left. */
    SHARE_SCANS(PRUNE),
    /** What readers may leave out: a scan must know all who read it, and filters must lie on it. */
    PUSH_PREDICATES(SHARE_SCANS, SIMPLIFY),
    /** Smaller states where rows are only added, which is so of the final inputs. */
    PROMISE_APPEND_ONLY(PLACE_WATERMARKS, PRUNE),
    /** Users' states instead of rows: a state must know whether rows are taken back. */
    KEEP_USER_STATES(PROMISE_APPEND_ONLY),
    /** Random values of rows that stay: behind what could move a projection across a join. */
    DRAW_ONCE(SIMPLIFY, PUSH_PREDICATES),
    /** The same once more, as other passes have left the plan: only what is right now counts. */
    SETTLE_CONDENSED(SHARE_SCANS, PUSH_PREDICATES, DRAW_ONCE),
    /** Joins of one key as one: the shape of the rest is final. */
    MERGE_JOINS(DRAW_ONCE, SHARE_SCANS, SETTLE_CONDENSED),
    /** Exchanges and phases, of operators that no pass changes any more. */
    DISTRIBUTE(KEEP_USER_STATES, MERGE_JOINS);

    /** After these a plan has to be simplified again before a pass that needs a simple one. */
    private static final Set<Pass> UNTIDY =
            Set.of(DECIDE_BY_CLOCK, RECOGNIZE_TIME_FILTERS, RECOGNIZE_WINDOWS, RECOGNIZE_OVER, PRUNE, SHARE_SCANS);

    private final List<Pass> needs;

    Pass(Pass... needs) {
        this.needs = List.of(needs);
    }

    /** What must have been done to a plan before this. */
    List<Pass> needs() {
        return needs;
    }

    boolean leavesUntidy() {
        return UNTIDY.contains(this);
    }
}
