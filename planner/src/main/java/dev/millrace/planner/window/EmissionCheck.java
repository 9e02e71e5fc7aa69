package dev.millrace.planner.window;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.Subplans;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.fact.RelationFacts;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Says whether a standing query speaks once per window, and if it was asked to and cannot, why. */
public final class EmissionCheck {
    private final Inference inference;
    private final Function<String, RelationFacts> relations;

    public EmissionCheck(Inference inference, Function<String, RelationFacts> relations) {
        this.inference = inference;
        this.relations = relations;
    }

    /** Whether all rows come when a window closes, and none is ever retracted. */
    public boolean emitsOnWindowClose(PlanNode plan) {
        return inference.of(plan).appendOnly() && Subplans.of(plan).stream().anyMatch(EmissionCheck::closesWindows);
    }

    private static boolean closesWindows(PlanNode node) {
        return node instanceof PlanNode.WindowAggregate
                || node instanceof PlanNode.WindowExtreme
                || node instanceof PlanNode.Match
                || node instanceof PlanNode.Join join && (join.windowEnds().isPresent() || isSettled(join))
                || node instanceof PlanNode.TopN topN && topN.windowEnd().isPresent()
                || node instanceof PlanNode.Over over && over.closing().isPresent();
    }

    private static boolean isSettled(PlanNode.Join join) {
        return join.time()
                .filter(time -> time instanceof JoinTime.Bounds
                        || time instanceof JoinTime.Nearest nearest && nearest.settled())
                .isPresent();
    }

    /** Fails unless {@link #emitsOnWindowClose}. */
    public void requireOnWindowClose(PlanNode plan) {
        if (emitsOnWindowClose(plan)) {
            return;
        }
        String why = whyChanging(plan)
                .orElse("no rows are grouped or ranked by a window, and no column is the event time of a watermark");
        throw MillraceException.user(
                        SqlState.FEATURE_NOT_SUPPORTED, "EMIT ON WINDOW CLOSE is not possible here: " + why)
                .withHint(
                        "leave EMIT out; or order OVER by the event time, ascending; or group by window_start and window_end of a TUMBLE, HOP, CUMULATE or SESSION"
                                + " over a stream, or a table that is APPEND ONLY, with a watermark");
    }

    /** Why rows of the node may be retracted; empty when they are not. */
    public Optional<String> whyChanging(PlanNode node) {
        if (inference.of(node).appendOnly()) {
            return Optional.empty();
        }
        Optional<String> below = node.inputs().stream()
                .map(this::whyChanging)
                .flatMap(Optional::stream)
                .findFirst();
        if (below.isPresent()) {
            return below;
        }
        if (node instanceof PlanNode.Scan scan) {
            return Optional.of("the rows of \"" + scan.relation() + "\" may change");
        } else if (node instanceof PlanNode.Join join) {
            return Optional.of("a " + join.kind() + " join takes rows back when a partner comes later");
        } else if (node instanceof PlanNode.TopN) {
            return Optional.of("the first rows so far are known only when a window among the partition keys closes");
        } else if (node instanceof PlanNode.Over over) {
            return Optional.of(whyChanging(over));
        } else if (node instanceof PlanNode.Aggregate aggregate) {
            return Optional.of(whyUpdating(aggregate));
        }
        return Optional.of("its rows may be retracted");
    }

    private String whyChanging(PlanNode.Over over) {
        Optional<String> ahead = over.calls().stream()
                .filter(OverCall::looksAhead)
                .map(call -> call.function() == OverCall.Function.AGGREGATE
                        ? call.aggregate().orElseThrow().function().name()
                        : call.function().name())
                .findFirst();
        if (ahead.isPresent()) {
            return ahead.get().toLowerCase(Locale.ROOT)
                    + "() OVER looks at rows after the current one, which are not there when the watermark passes it";
        }
        boolean ordered = !over.order().isEmpty()
                && inference
                        .of(over.input())
                        .eventTimes()
                        .contains(over.order().get(0).column());
        return ordered
                ? "OVER orders by event time descending: every row comes before those that are there"
                : "OVER does not order by the event time of a watermark first: a row may come between any others";
    }

    private String whyUpdating(PlanNode.Aggregate aggregate) {
        Optional<PlanNode.WindowAssign> assign = assignBelow(aggregate.input());
        if (assign.isPresent()
                && !inference.closes(assign.get().input(), assign.get().timeColumn())) {
            String time = assign.get()
                    .input()
                    .schema()
                    .field(assign.get().timeColumn())
                    .name();
            return relationsBelow(assign.get())
                            .anyMatch(name -> relations.apply(name).eventTime().isPresent())
                    ? "no watermark speaks of the window's time \"" + time + "\""
                    : relationsBelow(assign.get()).collect(Collectors.joining(", ")) + " has no watermark";
        }
        List<String> keys = aggregate.input().schema().select(aggregate.keys()).names();
        return keys.isEmpty()
                ? "an aggregate over all rows never ends"
                : "the groups by " + String.join(", ", keys) + " are not of one window each and never end";
    }

    private static Optional<PlanNode.WindowAssign> assignBelow(PlanNode node) {
        if (node instanceof PlanNode.WindowAssign assign) {
            return Optional.of(assign);
        }
        return node instanceof PlanNode.Calc calc ? assignBelow(calc.input()) : Optional.empty();
    }

    private static Stream<String> relationsBelow(PlanNode node) {
        return Subplans.of(node).stream()
                .filter(PlanNode.Scan.class::isInstance)
                .map(scan -> ((PlanNode.Scan) scan).relation())
                .distinct();
    }

    /** Fails if rows are assigned to sessions that no aggregation waits for. */
    public static void refuseOpenSessions(PlanNode plan) {
        boolean open = Subplans.of(plan).stream()
                .anyMatch(node ->
                        node instanceof PlanNode.WindowAssign assign && assign.window() instanceof WindowSpec.Session);
        if (open) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "EMIT ON WINDOW CLOSE is not possible here: SESSION windows close where rows that are only added,"
                                    + " with a watermark, are grouped by the sessions' partition, window_start and window_end")
                    .withHint("leave EMIT out");
        }
    }
}
