package dev.millrace.planner.window;

import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Watermark;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.tree.Rewrite;
import dev.millrace.planner.tree.Rewriter;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Decides what late means: a row is late when its last window has closed, in the windows of the query above the stream
 * (of several kinds, the one whose windows live longest). Where a row's own time is waited for, as in an interval join, a row
 * behind the watermark is late whatever windows there are besides: the join has dropped the rows that it would meet. A
 * stream whose watermark nobody waits for has none.
 *
 * <pre>
 * WindowAggregate(TUMBLE 10 s)    becomes    WindowAggregate(TUMBLE 10 s)
 *   Watermark(ts)                              Watermark(ts, lateBeyond TUMBLE 10 s)
 *     Scan                                       Scan
 *
 * Aggregate    becomes    Aggregate
 *   Watermark               Scan
 *     Scan
 * </pre>
 *
 * All reads of one stream in a query agree on its late rows.
 */
public final class WatermarkPlacement {
    /** The longest-lived windows above each watermark's input; no windows where only attached ones wait. */
    private final Map<Optional<String>, Optional<WindowSpec>> awaited = new HashMap<>();

    private final Map<PlanNode, Set<Visit>> visited = new IdentityHashMap<>();
    private final boolean assignedAreAwaited;

    private WatermarkPlacement(boolean assignedAreAwaited) {
        this.assignedAreAwaited = assignedAreAwaited;
    }

    /**
     * @param dropLate whether rows late for their windows are dropped also where windows are never closed (EMIT CHANGES
     *     with late = 'drop')
     */
    public static PlanNode apply(PlanNode plan, boolean dropLate) {
        WatermarkPlacement placement = new WatermarkPlacement(dropLate);
        placement.visit(new Visit(plan, false, Optional.empty()));
        Rewrite place = node -> node instanceof Watermark watermark ? placement.placed(watermark) : Optional.empty();
        return Rewriter.rewrite(plan, place);
    }

    /**
     * @param waits whether something above closes windows
     * @param windows the longest-lived of those above
     */
    private record Visit(PlanNode node, boolean waits, Optional<WindowSpec> windows) {}

    private void visit(Visit visit) {
        if (!visited.computeIfAbsent(visit.node(), node -> new HashSet<>()).add(visit)) {
            return;
        }
        PlanNode node = visit.node();
        if (node instanceof Watermark watermark) {
            if (visit.waits()) {
                awaited.merge(source(watermark), visit.windows(), WatermarkPlacement::longer);
            }
            visit(new Visit(watermark.input(), false, Optional.empty()));
            return;
        }
        boolean waits = visit.waits();
        Optional<WindowSpec> windows = visit.windows();
        if (node instanceof PlanNode.WindowAggregate aggregate) {
            waits = true;
            // windows above of the ends of these see none of the rows below
            boolean attached = aggregate.window() instanceof WindowSpec.Attached;
            windows = attached ? longer(windows, Optional.of(aggregate.window())) : Optional.of(aggregate.window());
        } else if (node instanceof PlanNode.WindowExtreme extreme) {
            waits = true;
            windows = longer(windows, Optional.of(extreme.window()));
        } else if (node instanceof PlanNode.WindowAssign assign) {
            waits |= assignedAreAwaited;
            windows = longer(windows, Optional.of(assign.window()));
        } else if (node instanceof PlanNode.Match) {
            waits = true;
            windows = longer(windows, Optional.of(WindowSpec.INSTANT));
        } else if (node instanceof PlanNode.Over over && over.closing().isPresent()) {
            waits = true;
            windows = longer(windows, Optional.of(WindowSpec.INSTANT));
        } else if (node instanceof PlanNode.TopN topN) {
            waits |= topN.windowEnd().isPresent() || topN.forgetting().isPresent();
        } else if (node instanceof PlanNode.Aggregate aggregate) {
            waits |= aggregate.forgetting().isPresent();
        } else if (node instanceof PlanNode.Join join) {
            waits |= join.windowEnds().isPresent()
                    || join.time().filter(JoinTime.Kept.class::isInstance).isPresent();
            if (isByRowTime(join)) {
                waits = true;
                windows = Optional.of(WindowSpec.INSTANT);
            }
        }
        for (PlanNode input : node.inputs()) {
            visit(new Visit(input, waits, windows));
        }
    }

    /** Whether the join counts on no row being behind the watermark. */
    private static boolean isByRowTime(PlanNode.Join join) {
        return join.time()
                .filter(time -> time instanceof JoinTime.Bounds
                        || time instanceof JoinTime.Nearest nearest && nearest.settled())
                .isPresent();
    }

    /** What all watermarks of one stream have in common, and all those of computed times. */
    private static Optional<String> source(Watermark watermark) {
        PlanNode rows = watermark.input() instanceof PlanNode.Versions versions ? versions.input() : watermark.input();
        return rows instanceof PlanNode.Scan scan ? Optional.of(scan.relation()) : Optional.empty();
    }

    private static Optional<WindowSpec> longer(Optional<WindowSpec> a, Optional<WindowSpec> b) {
        Optional<WindowSpec> instant = Optional.of(WindowSpec.INSTANT);
        if (a.equals(instant) || b.equals(instant)) {
            return instant;
        }
        return Stream.of(a, b)
                .flatMap(Optional::stream)
                .filter(window -> lifeMicros(window).isPresent())
                .max(Comparator.comparingLong(window -> lifeMicros(window).getAsLong()));
    }

    /** Twice the time that an average row waits for its last window to close; none for windows already attached. */
    private static OptionalLong lifeMicros(WindowSpec window) {
        if (window instanceof WindowSpec.Tumble tumble) {
            return OptionalLong.of(tumble.sizeMicros());
        } else if (window instanceof WindowSpec.Hop hop) {
            return OptionalLong.of(2 * hop.sizeMicros() - hop.slideMicros());
        } else if (window instanceof WindowSpec.Cumulate cumulate) {
            return OptionalLong.of(cumulate.sizeMicros());
        } else if (window instanceof WindowSpec.Session session) {
            return OptionalLong.of(2 * session.gapMicros());
        } else if (window instanceof WindowSpec.Calendar calendar) {
            return OptionalLong.of(Math.multiplyExact(
                    lifeMicros(calendar.counted()).orElseThrow(),
                    calendar.units().longestMicros()));
        }
        return OptionalLong.empty();
    }

    private Optional<PlanNode> placed(Watermark watermark) {
        Optional<WindowSpec> windows = awaited.get(source(watermark));
        if (windows == null) {
            return Optional.of(watermark.input());
        }
        return windows.equals(watermark.lateBeyond())
                ? Optional.empty()
                : Optional.of(new Watermark(
                        watermark.input(),
                        watermark.timeColumn(),
                        watermark.delayMicros(),
                        watermark.idleTimeoutMicros(),
                        windows,
                        watermark.byEpoch()));
    }
}
