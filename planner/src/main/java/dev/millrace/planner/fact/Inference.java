package dev.millrace.planner.fact;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.tree.NodeVisitor;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Derives {@link Facts} from the leaves up. One per planning, on its thread; remembers what it derived by node.
 *
 * <p>An updating operator speaks at the end of an epoch, when the watermark may have passed its rows already: event
 * times and windows end there.
 */
public final class Inference implements NodeVisitor<Facts> {
    private final Function<String, RelationFacts> relations;
    private final boolean finite;
    private final Map<PlanNode, Facts> known = new IdentityHashMap<>();

    /**
     * @param finite whether the query is a pull query: it reads every relation as rows that are only added, has no
     *     watermark, and closes all windows at the end
     */
    public Inference(Function<String, RelationFacts> relations, boolean finite) {
        this.relations = relations;
        this.finite = finite;
    }

    public boolean finite() {
        return finite;
    }

    /** Whether a relation keeps its rows, so that queries may read them there. */
    public boolean keepsRows(String relation) {
        return relations.apply(relation).keepsRows();
    }

    public Facts of(PlanNode node) {
        Facts facts = known.get(node);
        if (facts == null) {
            facts = NodeVisitor.visit(node, this);
            known.put(node, facts);
        }
        return facts;
    }

    /** Whether windows over {@code timeColumn} of the node's rows close some time. */
    public boolean closes(PlanNode node, int timeColumn) {
        return finite || of(node).eventTimes().contains(timeColumn) || endsWindows(node, timeColumn);
    }

    /**
     * Whether a column is the end of windows that were emitted when they closed: those that end by the watermark are out
     * before it goes on, so that windows over their ends can close by it in turn.
     */
    boolean endsWindows(PlanNode node, int column) {
        Facts facts = of(node);
        return facts.appendOnly()
                && facts.windows().stream()
                        .anyMatch(window -> window.emitted()
                                && window.end().isPresent()
                                && window.end().getAsInt() == column);
    }

    private static Facts plain(boolean appendOnly) {
        return new Facts(appendOnly, Set.of(), List.of());
    }

    @Override
    public Facts scan(PlanNode.Scan scan) {
        RelationFacts facts = relations.apply(scan.relation());
        Set<Integer> times = facts.eventTime()
                .filter(RelationFacts.EventTime::settled)
                .map(time -> scan.columns().indexOf(time.column()))
                .filter(column -> column >= 0)
                .map(Set::of)
                .orElse(Set.of());
        return new Facts(finite || facts.appendOnly(), times, List.of());
    }

    @Override
    public Facts values(PlanNode.Values values) {
        return plain(true);
    }

    @Override
    public Facts watermark(PlanNode.Watermark watermark) {
        return new Facts(of(watermark.input()).appendOnly(), Set.of(watermark.timeColumn()), List.of());
    }

    /** What the table's watermark says of its versions is up to the node above. */
    @Override
    public Facts versions(PlanNode.Versions versions) {
        return plain(true);
    }

    @Override
    public Facts calc(PlanNode.Calc calc) {
        Facts input = of(calc.input());
        Set<Integer> times = new HashSet<>();
        List<Expression> projections = calc.projections();
        for (int column = 0; column < projections.size(); column++) {
            if (projections.get(column) instanceof Column from
                    && input.eventTimes().contains(from.index())) {
                times.add(column);
            }
            if (input.appendOnly() && isLastInstant(projections.get(column), input.windows())) {
                times.add(column);
            }
        }
        return new Facts(input.appendOnly(), times, moved(input.windows(), column -> positionOf(column, projections)));
    }

    /**
     * Whether this is the last microsecond of a window that closes: as a window is out before the watermark passes its end,
     * and later rows are of later windows, no row follows that is older than the watermark by this time.
     */
    private static boolean isLastInstant(Expression expression, List<WindowColumns> windows) {
        return expression instanceof Expression.Call call
                && call.function().equals("subtract")
                && call.arguments().get(0) instanceof Column end
                && call.arguments().get(1) instanceof Expression.Literal distance
                && new IntervalValue(0, 0, 1).equals(distance.value())
                && windows.stream()
                        .anyMatch(window ->
                                window.end().isPresent() && window.end().getAsInt() == end.index());
    }

    private static OptionalInt positionOf(int column, List<Expression> projections) {
        return IntStream.range(0, projections.size())
                .filter(i -> projections.get(i) instanceof Column from && from.index() == column)
                .findFirst();
    }

    private static List<WindowColumns> moved(List<WindowColumns> windows, IntFunction<OptionalInt> position) {
        return windows.stream()
                .map(window -> new WindowColumns(
                        moved(window.start(), position),
                        moved(window.end(), position),
                        window.window(),
                        window.emitted()))
                .filter(window -> window.start().isPresent() || window.end().isPresent())
                .toList();
    }

    private static OptionalInt moved(OptionalInt column, IntFunction<OptionalInt> position) {
        return column.isPresent() ? position.apply(column.getAsInt()) : OptionalInt.empty();
    }

    @Override
    public Facts windowAssign(PlanNode.WindowAssign assign) {
        if (assign.window() instanceof WindowSpec.Session) {
            return plain(false); // SessionsByOver takes a row's session back when another row makes it longer
        }
        Facts input = of(assign.input());
        int width = assign.input().schema().size();
        boolean closing = closes(assign.input(), assign.timeColumn()) && input.appendOnly();
        return new Facts(
                input.appendOnly(),
                input.eventTimes(),
                closing ? List.of(boundsAt(width, assign.window(), false)) : List.of());
    }

    @Override
    public Facts expand(PlanNode.Expand expand) {
        Facts input = of(expand.input());
        Set<Integer> times = new HashSet<>();
        for (int column = 0; column < expand.kept().size(); column++) {
            if (input.eventTimes().contains(expand.kept().get(column))) {
                times.add(column);
            }
        }
        IntFunction<OptionalInt> position = column -> {
            int at = expand.kept().indexOf(column);
            return at < 0 ? OptionalInt.empty() : OptionalInt.of(at);
        };
        return new Facts(input.appendOnly(), times, moved(input.windows(), position));
    }

    private static WindowColumns boundsAt(int start, WindowSpec window, boolean emitted) {
        return new WindowColumns(OptionalInt.of(start), OptionalInt.of(start + 1), window, emitted);
    }

    /** The window that rows carried before they came to a node with {@code window}. */
    private WindowSpec original(WindowSpec window, PlanNode input) {
        return window instanceof WindowSpec.Attached attached
                ? of(input)
                        .windowsOf(attached.endColumn())
                        .map(WindowColumns::window)
                        .orElse(window)
                : window;
    }

    @Override
    public Facts aggregate(PlanNode.Aggregate aggregate) {
        boolean distinct = aggregate.calls().isEmpty() && !aggregate.keys().isEmpty();
        return plain(distinct
                && aggregate.forgetting().isEmpty()
                && of(aggregate.input()).appendOnly());
    }

    @Override
    public Facts windowAggregate(PlanNode.WindowAggregate aggregate) {
        if (aggregate.phase() == PlanNode.Phase.PARTIAL) {
            return plain(true);
        }
        // a session is emitted when no late row can join it any more, a gap after its end: nobody above may wait for
        // that end with the same watermark
        if (aggregate.window() instanceof WindowSpec.Session && !finite) {
            return plain(true);
        }
        int start = aggregate.schema().size() - 2;
        return new Facts(
                true, Set.of(), List.of(boundsAt(start, original(aggregate.window(), aggregate.input()), true)));
    }

    @Override
    public Facts windowExtreme(PlanNode.WindowExtreme extreme) {
        if (extreme.phase() == Phase.PARTIAL) {
            return of(extreme.input());
        }
        if (extreme.closedEnd() && !finite) {
            return plain(true); // a row at the very end is compared after the window has ended
        }
        int start = extreme.input().schema().size();
        return new Facts(true, Set.of(), List.of(boundsAt(start, original(extreme.window(), extreme.input()), true)));
    }

    @Override
    public Facts join(PlanNode.Join join) {
        Facts left = of(join.left());
        Facts right = of(join.right());
        boolean inputsAppendOnly = left.appendOnly() && right.appendOnly();
        boolean onlyGrows = join.kind() == PlanNode.JoinKind.INNER || join.kind() == PlanNode.JoinKind.SEMI;
        if (join.time().isEmpty()) {
            return plain(inputsAppendOnly && onlyGrows);
        }
        JoinTime time = join.time().get();
        if (time instanceof JoinTime.Current) {
            return new Facts(left.appendOnly(), left.eventTimes(), left.windows());
        } else if (time instanceof JoinTime.Nearest nearest) {
            return nearest.settled() && inputsAppendOnly
                    ? new Facts(true, Set.of(nearest.left()), openWindows(left))
                    : plain(finite && inputsAppendOnly);
        } else if (time instanceof JoinTime.Kept kept) {
            return inputsAppendOnly && onlyGrows ? ofKept(join, kept) : plain(false);
        } else if (time instanceof JoinTime.Bounds bounds) {
            return inputsAppendOnly ? ofBounds(join, bounds) : plain(false);
        }
        return inputsAppendOnly ? ofWindows(join, (JoinTime.WindowEnds) time) : plain(false);
    }

    @Override
    public Facts multiJoin(PlanNode.MultiJoin join) {
        return plain(join.inputs().stream().allMatch(input -> of(input).appendOnly()));
    }

    /** A left row is emitted before the watermark that passed it goes on: while the windows that hold it are open. */
    private static List<WindowColumns> openWindows(Facts left) {
        return left.windows().stream().filter(window -> !window.emitted()).toList();
    }

    /**
     * Times of a side whose rows may be missing are NULL then, and mean nothing; those of rows that are kept until another
     * time may be long past when they are joined. The watermark is held back behind the rows,
     * which are of open windows still.
     */
    private Facts ofBounds(PlanNode.Join join, JoinTime.Bounds bounds) {
        int width = join.left().schema().size();
        Set<Integer> times = new HashSet<>();
        boolean hasRight = join.kind() == PlanNode.JoinKind.INNER || join.kind() == PlanNode.JoinKind.RIGHT;
        if (bounds.leftByTime() && join.kind() != PlanNode.JoinKind.RIGHT && join.kind() != PlanNode.JoinKind.FULL) {
            times.add(bounds.left());
        }
        if (bounds.rightByTime() && hasRight) {
            times.add(width + bounds.right());
        }
        List<WindowColumns> windows = new ArrayList<>();
        if (times.contains(bounds.left())) {
            windows.addAll(of(join.left()).windows());
        }
        if (times.contains(width + bounds.right())) {
            windows.addAll(moved(of(join.right()).windows(), column -> OptionalInt.of(column + width)));
        }
        windows.removeIf(WindowColumns::emitted);
        return new Facts(true, times, windows);
    }

    /** Rows of both sides have times; the watermark is held back behind those of joined rows. */
    private static Facts ofKept(PlanNode.Join join, JoinTime.Kept kept) {
        int left = kept.left().orElseThrow();
        int width = join.left().schema().size();
        Set<Integer> times = join.kind() == PlanNode.JoinKind.INNER
                ? Set.of(left, width + kept.right().orElseThrow())
                : Set.of(left);
        return new Facts(true, times, List.of());
    }

    private Facts ofWindows(PlanNode.Join join, JoinTime.WindowEnds ends) {
        int width = join.left().schema().size();
        List<WindowColumns> windows = new ArrayList<>();
        if (join.kind() != PlanNode.JoinKind.RIGHT && join.kind() != PlanNode.JoinKind.FULL) {
            of(join.left()).windows().stream()
                    .filter(window -> window.has(ends.left()))
                    .forEach(windows::add);
        }
        if (join.kind() == PlanNode.JoinKind.INNER || join.kind() == PlanNode.JoinKind.RIGHT) {
            List<WindowColumns> ofRight = of(join.right()).windows().stream()
                    .filter(window -> window.has(ends.right()))
                    .toList();
            windows.addAll(moved(ofRight, column -> OptionalInt.of(column + width)));
        }
        return new Facts(true, Set.of(), windows);
    }

    @Override
    public Facts topN(PlanNode.TopN topN) {
        if (topN.windowEnd().isEmpty()) {
            return plain(false);
        }
        int end = topN.windowEnd().getAsInt();
        List<WindowColumns> windows = of(topN.input()).windows().stream()
                .filter(window -> window.has(end))
                .map(window -> new WindowColumns(window.start(), window.end(), window.window(), true))
                .toList();
        return new Facts(true, Set.of(), windows);
    }

    /** A match is emitted when no later row can change it, which may be long after its rows' times. */
    @Override
    public Facts match(PlanNode.Match match) {
        return plain(!match.inputSpeaksAtEpochEnd());
    }

    /** A row is emitted before the watermark that passed it goes on: its time is still an event time. */
    @Override
    public Facts over(PlanNode.Over over) {
        return over.closing().isPresent()
                ? new Facts(true, Set.of(over.closing().getAsInt()), List.of())
                : plain(false);
    }

    /** What comes with time comes behind the watermark of its rows. */
    @Override
    public Facts timeFilter(PlanNode.TimeFilter filter) {
        return plain(!filter.leaving() && of(filter.input()).appendOnly());
    }

    @Override
    public Facts pace(PlanNode.Pace pace) {
        return plain(of(pace.input()).appendOnly());
    }

    @Override
    public Facts union(PlanNode.Union union) {
        Facts all = of(union.inputs().get(0));
        for (PlanNode input : union.inputs()) {
            Facts facts = of(input);
            Set<Integer> times = new HashSet<>(all.eventTimes());
            times.retainAll(facts.eventTimes());
            List<WindowColumns> windows =
                    all.windows().stream().filter(facts.windows()::contains).toList();
            all = new Facts(all.appendOnly() && facts.appendOnly(), times, windows);
        }
        return all;
    }

    @Override
    public Facts sort(PlanNode.Sort sort) {
        return plain(of(sort.input()).appendOnly());
    }

    @Override
    public Facts exchange(PlanNode.Exchange exchange) {
        return of(exchange.input());
    }
}
