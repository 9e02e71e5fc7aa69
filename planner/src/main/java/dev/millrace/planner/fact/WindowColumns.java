package dev.millrace.planner.fact;

import dev.millrace.plan.node.WindowSpec;
import java.util.OptionalInt;

/**
 * Columns that hold the bounds of windows; one of the two may have been projected away.
 *
 * @param window how rows once fell into them
 * @param emitted whether rows come when their window closes, each window complete; else a row comes once for every
 *     window it falls into, as it arrives
 */
public record WindowColumns(OptionalInt start, OptionalInt end, WindowSpec window, boolean emitted) {

    /** Whether rows with one value of that column, and equal in all session keys, are of one window. */
    public boolean identifiedBy(int column) {
        if (end.isPresent() && end.getAsInt() == column) {
            return true;
        }
        return start.isPresent() && start.getAsInt() == column && !(window.shape() instanceof WindowSpec.Cumulate);
    }

    public boolean has(int column) {
        return start.isPresent() && start.getAsInt() == column || end.isPresent() && end.getAsInt() == column;
    }
}
