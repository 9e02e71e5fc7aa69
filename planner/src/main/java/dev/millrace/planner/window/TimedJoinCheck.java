package dev.millrace.planner.window;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.fact.Facts;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import dev.millrace.type.DataType;
import java.util.Optional;

/** Refuses joins in which time chooses and that no operator can do, and lets those that can wait for certainty do so. */
public final class TimedJoinCheck implements Rewrite {
    private final Inference inference;
    private final boolean onWindowClose;

    /** @param onWindowClose whether EMIT ON WINDOW CLOSE was asked for */
    public TimedJoinCheck(Inference inference, boolean onWindowClose) {
        this.inference = inference;
        this.onWindowClose = onWindowClose;
    }

    /** Settles ASOF joins where answers are wanted once and both sides have a watermark. */
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof PlanNode.Join join) || join.time().isEmpty()) {
            return Optional.empty();
        }
        JoinTime time = join.time().get();
        Facts left = inference.of(join.left());
        Facts right = inference.of(join.right());
        if (time instanceof JoinTime.Current && !left.appendOnly()) {
            throw refused(
                    "FOR SYSTEM_TIME AS OF looks a row up once, when the left row comes, but left rows may change here",
                    "join without FOR SYSTEM_TIME: the answer then follows both sides");
        }
        if (!(time instanceof JoinTime.Nearest nearest)) {
            return Optional.empty();
        }
        DataType type = join.left().schema().type(nearest.left());
        if (!type.equals(join.right().schema().type(nearest.right())) || !isOrdered(type)) {
            throw refused("ASOF JOIN is not available by " + type + " yet", "compare timestamps, dates or integers");
        }
        boolean hasWatermarks = left.appendOnly()
                && right.appendOnly()
                && left.eventTimes().contains(nearest.left())
                && right.eventTimes().contains(nearest.right())
                && !nearest.later();
        if (nearest.settled() && !hasWatermarks) {
            throw refused(
                    "FOR SYSTEM_TIME AS OF a time needs append-only rows with a watermark on both sides",
                    "AS OF the event time of the left side; or AS OF proctime(), which looks up current rows of a table"
                            + " or view as each left row arrives");
        }
        return !nearest.settled() && onWindowClose && hasWatermarks
                ? Optional.of(Nodes.join(
                        join.left(),
                        join.right(),
                        join.kind(),
                        join.leftKeys(),
                        join.rightKeys(),
                        join.residual(),
                        Optional.of(new JoinTime.Nearest(
                                nearest.left(), nearest.right(), nearest.later(), nearest.orEqual(), true))))
                : Optional.empty();
    }

    private static boolean isOrdered(DataType type) {
        return switch (type.kind()) {
            case TIMESTAMP, TIMESTAMPTZ, BIGINT, INTEGER, SMALLINT, DATE, TIME -> true;
            default -> false;
        };
    }

    private static MillraceException refused(String message, String hint) {
        return MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, message).withHint(hint);
    }
}
