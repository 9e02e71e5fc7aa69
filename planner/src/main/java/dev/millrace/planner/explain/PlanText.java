package dev.millrace.planner.explain;

import dev.millrace.condense.Condensation;
import dev.millrace.connector.ColumnPredicate;
import dev.millrace.connector.query.FileRelation;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PartialSchemas;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.SharedSides;
import dev.millrace.plan.node.Subplans;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.estimate.Cardinality;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.NodeVisitor;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewriter;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A plan as a tree of lines, the root first, inputs indented below:
 *
 * <pre>
 * Calc auction, count [append-only]
 *   WindowExtreme max of count in (window_start, window_end) [append-only; state: ...]
 *     WindowAggregate HOP 10 s every 2 s on datetime by auction: count(*) [append-only; state: ...]
 *       Watermark datetime - 4 s, late beyond HOP 10 s every 2 s [append-only]
 *         Scan bid: auction, datetime [append-only]
 * </pre>
 *
 * A subplan that is used twice is written once and numbered.
 */
public final class PlanText implements NodeVisitor<String> {
    private final Function<PlanNode, List<String>> notes;
    private final StringBuilder text = new StringBuilder();
    private final Map<PlanNode, Integer> numbers = new IdentityHashMap<>();
    private final Set<PlanNode> written = Collections.newSetFromMap(new IdentityHashMap<>());

    private PlanText(Function<PlanNode, List<String>> notes) {
        this.notes = notes;
    }

    /** The text of a plan, each line ended by a newline. */
    public static String of(PlanNode plan, Inference inference) {
        SharedSides shared = shared(plan, inference);
        return of(plan, node -> notes(node, inference, shared));
    }

    /** The text of a plan; if it joins relations whose rows are counted, with how many rows are expected. */
    public static String of(PlanNode plan, Inference inference, Cardinality cardinality) {
        List<PlanNode> nodes = Subplans.of(plan);
        boolean joins =
                nodes.stream().anyMatch(node -> node instanceof PlanNode.Join || node instanceof PlanNode.MultiJoin);
        if (!joins || nodes.stream().noneMatch(node -> isCounted(node, cardinality))) {
            return of(plan, inference);
        }
        SharedSides shared = shared(plan, inference);
        return of(plan, node -> {
            List<String> notes = new ArrayList<>(notes(node, inference, shared));
            rows(node, cardinality).ifPresent(notes::add);
            return notes;
        });
    }

    /** Which sides of joins are read where they are kept: of queries that stand. */
    private static SharedSides shared(PlanNode plan, Inference inference) {
        return inference.finite() ? SharedSides.NONE : SharedSides.of(plan, inference::keepsRows);
    }

    private static boolean isCounted(PlanNode node, Cardinality cardinality) {
        return node instanceof PlanNode.Scan scan && cardinality.isCounted(scan.relation());
    }

    /** Where rows come from and where they grow more or fewer. */
    private static Optional<String> rows(PlanNode node, Cardinality cardinality) {
        long rows = Math.round(cardinality.rows(node));
        if (node instanceof PlanNode.Scan scan) {
            OptionalLong soFar = cardinality.rowsSoFar(scan.relation());
            return Optional.of(
                    isCounted(node, cardinality)
                            ? rows + " rows counted"
                            : rows + " rows assumed" + (soFar.isPresent() ? ", " + soFar.getAsLong() + " so far" : ""));
        }
        boolean changes = node instanceof PlanNode.Join
                || node instanceof PlanNode.MultiJoin
                || node instanceof PlanNode.Aggregate
                || node instanceof PlanNode.Calc calc && calc.condition().isPresent();
        return changes ? Optional.of("about " + rows + " rows") : Optional.empty();
    }

    /** The text of a plan with notes of one's own behind each node. */
    public static String annotated(PlanNode plan, Function<PlanNode, List<String>> notes) {
        return of(plan, notes);
    }

    /** The line of one node, without its notes. */
    public static String line(PlanNode node) {
        return NodeVisitor.visit(node, new PlanText(any -> List.of()));
    }

    /** The tree alone, without what follows for changes and state. */
    static String withoutNotes(PlanNode plan) {
        return of(plan, node -> List.of());
    }

    private static String of(PlanNode given, Function<PlanNode, List<String>> notes) {
        PlanNode plan = Rewriter.shared(given); // comparing plans again and again is dear where they share
        PlanText planText = new PlanText(notes);
        planText.numberShared(plan, Collections.newSetFromMap(new IdentityHashMap<>()));
        planText.write(plan, 0);
        return planText.text.toString();
    }

    private void numberShared(PlanNode node, Set<PlanNode> seen) {
        if (!seen.add(node)) {
            numbers.putIfAbsent(node, numbers.size() + 1);
            return;
        }
        node.inputs().forEach(input -> numberShared(input, seen));
    }

    private void write(PlanNode node, int depth) {
        text.append("  ".repeat(depth));
        Integer number = numbers.get(node);
        if (number != null) {
            text.append('#').append(number).append(' ');
        }
        if (!written.add(node)) {
            text.append("as above\n");
            return;
        }
        text.append(NodeVisitor.visit(node, this));
        List<String> ofNode = notes.apply(node);
        text.append(ofNode.isEmpty() ? "" : " [" + String.join("; ", ofNode) + "]")
                .append('\n');
        node.inputs().forEach(input -> write(input, depth + 1));
    }

    /** In a finite query nothing is retracted in the end, and no state outlives it. */
    private static List<String> notes(PlanNode node, Inference inference, SharedSides shared) {
        List<String> notes = new ArrayList<>();
        if (!inference.finite()) {
            notes.add(inference.of(node).appendOnly() ? "append-only" : "changes");
        }
        StateNote.of(node, inference, shared).ifPresent(notes::add);
        return notes;
    }

    private static ExpressionText over(PlanNode node) {
        return new ExpressionText(node.schema());
    }

    static String window(WindowSpec window, ExpressionText columns) {
        if (window instanceof WindowSpec.Calendar calendar) {
            return CalendarText.of(calendar);
        }
        if (window instanceof WindowSpec.Tumble tumble) {
            return "TUMBLE " + Durations.text(tumble.sizeMicros()) + from(tumble.offsetMicros());
        } else if (window instanceof WindowSpec.Hop hop) {
            return "HOP " + Durations.text(hop.sizeMicros()) + " every " + Durations.text(hop.slideMicros())
                    + from(hop.offsetMicros());
        } else if (window instanceof WindowSpec.Cumulate cumulate) {
            return "CUMULATE " + Durations.text(cumulate.sizeMicros()) + " by " + Durations.text(cumulate.stepMicros())
                    + from(cumulate.offsetMicros());
        } else if (window instanceof WindowSpec.Session session) {
            return "SESSION gap " + Durations.text(session.gapMicros());
        }
        WindowSpec.Attached attached = (WindowSpec.Attached) window;
        return "the rows' windows (" + columns.columns(List.of(attached.startColumn(), attached.endColumn())) + ")";
    }

    private static String from(long offsetMicros) {
        return offsetMicros == 0 ? "" : " offset " + Durations.text(offsetMicros);
    }

    /** Windows and the time they are of; attached ones say it themselves. */
    private static String windowOn(WindowSpec window, int timeColumn, ExpressionText columns) {
        return window(window, columns)
                + (window instanceof WindowSpec.Attached ? "" : " on " + columns.column(timeColumn));
    }

    @Override
    public String scan(PlanNode.Scan scan) {
        String line = "Scan " + FileRelation.shown(scan.relation()) + ": "
                + (scan.columns().isEmpty()
                        ? "no columns"
                        : String.join(", ", scan.schema().names()));
        if (!scan.predicates().isEmpty()) {
            line += " hint "
                    + scan.predicates().stream()
                            .map(predicate -> predicate(predicate, scan))
                            .collect(Collectors.joining(" AND "));
        }
        return line + scan.condensation().map(PlanText::condensation).orElse("");
    }

    /** What may come as one. */
    private static String condensation(Condensation condensation) {
        String text = " in sketches, alike rows as one";
        if (condensation.sliceMicros() > 0) {
            text += ", times by " + Durations.text(condensation.sliceMicros())
                    + (condensation.offsetMicros() > 0 ? " from " + Durations.text(condensation.offsetMicros()) : "");
        }
        int cuts = condensation.cutsMicros().size();
        return cuts == 0 ? text : text + ", times cut at " + cuts + (cuts == 1 ? " instant" : " instants");
    }

    private static String predicate(ColumnPredicate predicate, PlanNode.Scan scan) {
        int position = scan.columns().indexOf(predicate.column());
        String column = position < 0
                ? "$" + predicate.column()
                : scan.schema().field(position).name();
        String operator = switch (predicate.comparison()) {
            case EQ -> " = ";
            case NE -> " <> ";
            case LT -> " < ";
            case LE -> " <= ";
            case GT -> " > ";
            case GE -> " >= ";
            case IS_NULL -> " IS NULL";
            case IS_NOT_NULL -> " IS NOT NULL";
        };
        String value = predicate
                .value()
                .map(constant -> position < 0
                        ? constant.toString()
                        : ExpressionText.literal(
                                new Literal(constant, scan.schema().type(position))))
                .orElse("");
        return column + operator + value;
    }

    @Override
    public String values(PlanNode.Values values) {
        ExpressionText columns = over(values);
        return "Values "
                + (values.rows().isEmpty()
                        ? "no rows"
                        : values.rows().stream()
                                .map(row -> row.stream().map(columns::text).collect(Collectors.joining(", ", "(", ")")))
                                .collect(Collectors.joining(", ")));
    }

    @Override
    public String watermark(PlanNode.Watermark watermark) {
        ExpressionText columns = over(watermark);
        String late = watermark
                .lateBeyond()
                .map(window -> window.equals(WindowSpec.INSTANT)
                        ? ", late when older"
                        : ", late beyond " + window(window, columns))
                .orElse(", no row is late");
        if (watermark.idleTimeoutMicros() == PlanNode.Watermark.FOLLOWS_CLOCK) {
            return "Watermark " + columns.column(watermark.timeColumn()) + " by the clock" + late;
        }
        String idle = watermark.idleTimeoutMicros() == 0
                ? ""
                : ", idle after " + Durations.text(watermark.idleTimeoutMicros());
        return "Watermark " + columns.column(watermark.timeColumn()) + " - " + Durations.text(watermark.delayMicros())
                + (watermark.byEpoch() ? " by epochs" : "") + late + idle;
    }

    @Override
    public String calc(PlanNode.Calc calc) {
        ExpressionText columns = over(calc.input());
        String projections =
                calc.projections().isEmpty() ? "no columns" : columns.projections(calc.projections(), calc.schema());
        return "Calc " + projections
                + calc.condition()
                        .map(condition -> " where " + columns.text(condition))
                        .orElse("");
    }

    @Override
    public String windowAssign(PlanNode.WindowAssign assign) {
        return "WindowAssign " + windowOn(assign.window(), assign.timeColumn(), over(assign.input()));
    }

    @Override
    public String expand(PlanNode.Expand expand) {
        ExpressionText columns = over(expand.input());
        String calls = expand.calls().stream()
                .map(call -> call.function() + "(" + columns.columns(call.arguments()) + ")")
                .collect(Collectors.joining(", "));
        return "Expand " + calls + (expand.ordinality() ? " numbered" : "") + (expand.outer() ? " or NULL" : "");
    }

    private static String calls(List<AggregateCall> calls, Schema arguments) {
        ExpressionText columns = new ExpressionText(arguments);
        return calls.isEmpty() ? "" : ": " + calls.stream().map(columns::call).collect(Collectors.joining(", "));
    }

    private static String by(List<Integer> keys, ExpressionText columns) {
        return keys.isEmpty() ? "" : " by " + columns.columns(keys);
    }

    private static String phase(Phase phase) {
        return phase == Phase.SINGLE ? "" : " " + phase.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public String aggregate(PlanNode.Aggregate aggregate) {
        String name = aggregate.calls().isEmpty() ? "Distinct" : "Aggregate";
        return name
                + phase(aggregate.phase())
                + by(aggregate.keys(), over(aggregate.input()))
                + calls(aggregate.calls(), PartialSchemas.argumentSchema(aggregate));
    }

    @Override
    public String windowAggregate(PlanNode.WindowAggregate aggregate) {
        ExpressionText columns = over(aggregate.input());
        return "WindowAggregate" + phase(aggregate.phase()) + " "
                + windowOn(aggregate.window(), aggregate.timeColumn(), columns) + by(aggregate.keys(), columns)
                + calls(aggregate.calls(), PartialSchemas.argumentSchema(aggregate));
    }

    @Override
    public String windowExtreme(PlanNode.WindowExtreme extreme) {
        ExpressionText columns = over(extreme.input());
        return "WindowExtreme" + phase(extreme.phase()) + " " + (extreme.maximum() ? "max" : "min") + " of "
                + columns.column(extreme.valueColumn())
                + " in " + windowOn(extreme.window(), extreme.timeColumn(), columns)
                + by(extreme.keys(), columns)
                + (extreme.closedEnd() ? ", compared at the window's very end too" : "");
    }

    @Override
    public String join(PlanNode.Join join) {
        ExpressionText left = over(join.left());
        ExpressionText right = over(join.right());
        String keys = IntStream.range(0, join.leftKeys().size())
                .mapToObj(i -> left.column(join.leftKeys().get(i)) + " = "
                        + right.column(join.rightKeys().get(i)))
                .collect(Collectors.joining(" AND "));
        ExpressionText both =
                new ExpressionText(join.left().schema().concat(join.right().schema()));
        String residual = join.residual().map(both::text).orElse("");
        String condition = keys.isEmpty() || residual.isEmpty() ? keys + residual : keys + " AND " + residual;
        String when = join.time()
                .map(time -> time(time, join.left().schema().size(), both))
                .orElse("");
        String name = join.time().filter(JoinTime.Nearest.class::isInstance).isPresent()
                ? "AsofJoin "
                : join.time().filter(JoinTime.Current.class::isInstance).isPresent() ? "LookupJoin " : "Join ";
        return name
                + join.kind()
                + (condition.isEmpty() ? "" : " on " + condition)
                + (when.isEmpty() ? "" : (condition.isEmpty() ? " on " : " AND ") + when);
    }

    @Override
    public String multiJoin(PlanNode.MultiJoin join) {
        return "MultiJoin INNER on "
                + IntStream.range(0, join.keys().get(0).size())
                        .mapToObj(key -> IntStream.range(0, join.inputs().size())
                                .mapToObj(input -> over(join.inputs().get(input))
                                        .column(join.keys().get(input).get(key)))
                                .collect(Collectors.joining(" = ")))
                        .collect(Collectors.joining(" AND "));
    }

    /** What time asks for beside the keys. */
    private static String time(JoinTime time, int width, ExpressionText both) {
        if (time instanceof JoinTime.Bounds bounds && !(bounds.leftByTime() && bounds.rightByTime())) {
            String left = both.column(bounds.left());
            String right = both.column(width + bounds.right());
            String leftUntil = both.column(bounds.leftUntil());
            String rightUntil = both.column(width + bounds.rightUntil());
            return right + " <= " + leftUntil + moved(bounds.upperMicros()) + " AND " + left + " <= " + rightUntil
                    + moved(-bounds.lowerMicros());
        } else if (time instanceof JoinTime.Bounds bounds) {
            return both.column(width + bounds.right()) + " - " + both.column(bounds.left()) + " in "
                    + Durations.text(bounds.lowerMicros()) + " .. " + Durations.text(bounds.upperMicros());
        } else if (time instanceof JoinTime.Nearest nearest) {
            return (nearest.version().isPresent() ? "version of " : "nearest ")
                    + both.column(width + nearest.right())
                    + (nearest.later() ? " >" : " <")
                    + (nearest.orEqual() ? "= " : " ")
                    + both.column(nearest.left())
                    + (nearest.settled() ? ", once it is certain" : "");
        } else if (time instanceof JoinTime.Kept kept
                && kept.left().isPresent()
                && kept.right().isPresent()) {
            return both.column(width + kept.right().getAsInt()) + " at most " + Durations.text(kept.ttlMicros())
                    + " from " + both.column(kept.left().getAsInt());
        }
        return "";
    }

    private static String moved(long micros) {
        return micros == 0 ? "" : (micros < 0 ? " - " : " + ") + Durations.text(Math.abs(micros));
    }

    @Override
    public String topN(PlanNode.TopN topN) {
        ExpressionText columns = over(topN.input());
        boolean unlimited = Nodes.isUnlimited(topN);
        return "TopN"
                + (unlimited ? "" : " " + topN.limit())
                + (topN.offset() == 0 ? "" : " after " + topN.offset())
                + " by " + topN.rank().name().toLowerCase(Locale.ROOT)
                + (topN.partition().isEmpty() ? "" : " per " + columns.columns(topN.partition()))
                + (topN.order().isEmpty() ? "" : " order " + columns.order(topN.order()));
    }

    @Override
    public String match(PlanNode.Match match) {
        return new MatchText(match).line();
    }

    @Override
    public String over(PlanNode.Over over) {
        ExpressionText columns = over(over.input());
        return "Over"
                + (over.partition().isEmpty() ? "" : " per " + columns.columns(over.partition()))
                + (over.order().isEmpty() ? "" : " order " + columns.order(over.order()))
                + over.calls().stream().map(columns::call).collect(Collectors.joining(", ", ": ", ""))
                + (over.closing().isPresent() ? ", once the watermark has passed" : "");
    }

    @Override
    public String versions(PlanNode.Versions versions) {
        ExpressionText columns = over(versions.input());
        return "Versions of " + columns.columns(versions.key()) + " by " + columns.column(versions.timeColumn());
    }

    @Override
    public String timeFilter(PlanNode.TimeFilter filter) {
        ExpressionText columns = over(filter);
        String comparison = (filter.leaving() ? ">" : "<") + (filter.atBound() ? "= " : " ");
        return "TimeFilter " + columns.column(filter.timeColumn()) + " " + comparison + columns.text(filter.bound())
                + (filter.leaving() ? ": rows leave as time passes" : ": rows come as time passes");
    }

    @Override
    public String pace(PlanNode.Pace pace) {
        return "Pace every " + Durations.text(pace.periodMicros());
    }

    @Override
    public String union(PlanNode.Union union) {
        return "Union";
    }

    @Override
    public String sort(PlanNode.Sort sort) {
        return "Sort " + over(sort.input()).order(sort.order())
                + (sort.limit() < 0 ? "" : " limit " + sort.limit())
                + (sort.offset() == 0 ? "" : " offset " + sort.offset());
    }

    @Override
    public String exchange(PlanNode.Exchange exchange) {
        if (exchange.distribution() instanceof PlanNode.Distribution.Hash hash) {
            return "Exchange by hash of " + over(exchange.input()).columns(hash.columns());
        }
        return exchange.distribution() instanceof PlanNode.Distribution.Single
                ? "Exchange to one task"
                : exchange.distribution() instanceof PlanNode.Distribution.Broadcast
                        ? "Exchange to every task"
                        : "Exchange to each task in turn";
    }
}
