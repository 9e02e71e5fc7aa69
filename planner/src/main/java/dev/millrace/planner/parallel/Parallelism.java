package dev.millrace.planner.parallel;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.match.MatchValue;
import dev.millrace.plan.node.AggregateState;
import dev.millrace.plan.node.PartialSchemas;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Distribution;
import dev.millrace.plan.node.PlanNode.Exchange;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.NodeVisitor;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Puts exchanges where rows must meet:
 *
 * <pre>
 * scan, filter, project      stay with the reader
 * aggregation that splits    PARTIAL, exchange by keys, FINAL              {@link TwoPhases}
 * distinct aggregates        the same, with the values of each task, where nothing is taken back; else
 *                            exchange by keys and value, then partial sums  {@link DistinctPhases}
 * other aggregation          exchange by keys, or to one task without keys
 * join                       both sides by their keys
 * top-N, extreme             by partition; without keys the best of each task first
 * row patterns               by partition, or to one task without
 * sort                       to one task
 * </pre>
 *
 * With one task the plan stays as it is.
 */
public final class Parallelism implements NodeVisitor<Parallelism.Placed> {
    /** A rewritten node and how its rows are spread. */
    record Placed(PlanNode node, Spread spread) {}

    private final Inference inference;
    private final Map<PlanNode, Placed> done = new IdentityHashMap<>();
    private List<Integer> wanted = List.of(); // columns of the node being placed that its reader needs together

    private Parallelism(Inference inference) {
        this.inference = inference;
    }

    public static PlanNode apply(PlanNode plan, int tasks, Inference inference) {
        return tasks == 1 ? plan : new Parallelism(inference).place(plan).node();
    }

    private Placed place(PlanNode node) {
        return placeFor(node, List.of());
    }

    /** For a reader that needs rows that agree in some columns together: a hint, which saves it an exchange. */
    private Placed placeFor(PlanNode node, List<Integer> columns) {
        Placed placed = done.get(node);
        if (placed == null) {
            List<Integer> before = wanted;
            wanted = columns;
            placed = NodeVisitor.visit(node, this);
            wanted = before;
            done.put(node, placed);
        }
        return placed;
    }

    /** By which of an aggregation's keys its groups are exchanged: those its reader needs, or else all. */
    private List<Integer> spreadOf(int keys) {
        List<Integer> needed = first(keys).stream().filter(wanted::contains).toList();
        return needed.isEmpty() ? first(keys) : needed;
    }

    /** The rows with those that agree in {@code keys} in one task. */
    private static PlanNode gathered(Placed rows, List<Integer> keys) {
        return rows.spread().gathers(keys) ? rows.node() : exchange(rows.node(), keys);
    }

    static PlanNode exchange(PlanNode node, List<Integer> keys) {
        return new Exchange(node, keys.isEmpty() ? new Distribution.Single() : new Distribution.Hash(keys));
    }

    /** How rows are spread that were gathered by keys and then moved to other columns. */
    private static Spread after(Placed rows, List<Integer> keys, List<Integer> moved) {
        if (rows.spread() instanceof Spread.Together || keys.isEmpty()) {
            return Spread.TOGETHER;
        }
        List<Integer> by =
                rows.spread() instanceof Spread.By of && rows.spread().gathers(keys) ? of.columns() : keys;
        return new Spread.By(
                by.stream().map(column -> moved.get(keys.indexOf(column))).toList());
    }

    static List<Integer> first(int columns) {
        return IntStream.range(0, columns).boxed().toList();
    }

    private static List<Integer> chosen(List<Integer> columns, List<Integer> positions) {
        return positions.stream().map(columns::get).toList();
    }

    private static PlanNode over(PlanNode node, PlanNode input) {
        return Nodes.withInputs(node, List.of(input));
    }

    @Override
    public Placed scan(PlanNode.Scan scan) {
        return new Placed(scan, Spread.ANY);
    }

    @Override
    public Placed values(PlanNode.Values values) {
        return new Placed(values, Spread.TOGETHER);
    }

    @Override
    public Placed watermark(PlanNode.Watermark watermark) {
        Placed input = place(watermark.input());
        return new Placed(over(watermark, input.node()), input.spread());
    }

    /** A table is read by one task, so all its changes meet here. */
    @Override
    public Placed versions(PlanNode.Versions versions) {
        Placed input = place(versions.input());
        return new Placed(over(versions, input.node()), input.spread());
    }

    @Override
    public Placed calc(PlanNode.Calc calc) {
        List<Integer> columns = wanted.stream()
                .map(calc.projections()::get)
                .filter(Expression.Column.class::isInstance)
                .map(column -> ((Expression.Column) column).index())
                .toList();
        Placed input = placeFor(calc.input(), columns);
        return new Placed(over(calc, input.node()), input.spread().over(calc.projections()));
    }

    @Override
    public Placed windowAssign(PlanNode.WindowAssign assign) {
        Placed input = place(assign.input());
        return new Placed(over(assign, input.node()), input.spread());
    }

    @Override
    public Placed expand(PlanNode.Expand expand) {
        Placed input = place(expand.input());
        List<Expression> kept = new ArrayList<>();
        for (int column : expand.kept()) {
            Field field = expand.input().schema().field(column);
            kept.add(new Expression.Column(column, field.type(), field.nullable()));
        }
        return new Placed(over(expand, input.node()), input.spread().over(kept));
    }

    @Override
    public Placed aggregate(PlanNode.Aggregate aggregate) {
        Placed input = place(aggregate.input());
        List<Integer> keys = aggregate.keys();
        List<Integer> outputKeys = first(keys.size());
        if (input.spread().gathers(keys)) {
            return new Placed(over(aggregate, input.node()), after(input, keys, outputKeys));
        }
        List<Integer> by = spreadOf(keys.size());
        Spread spread = keys.isEmpty() ? Spread.TOGETHER : new Spread.By(by);
        if (aggregate.forgetting().isPresent()) { // which must see the rows of a group in their order
            return new Placed(over(aggregate, exchange(input.node(), chosen(keys, by))), spread);
        }
        if (PartialSchemas.canSplit(aggregate)) {
            return new Placed(TwoPhases.of(aggregate, by, input.node()), spread);
        }
        if (DistinctPhases.canSplit(aggregate.calls())) {
            return new Placed(
                    DistinctPhases.of(aggregate, input.node()),
                    keys.isEmpty() ? Spread.TOGETHER : new Spread.By(outputKeys));
        }
        return new Placed(over(aggregate, exchange(input.node(), chosen(keys, by))), spread);
    }

    @Override
    public Placed windowAggregate(PlanNode.WindowAggregate aggregate) {
        Placed input = place(aggregate.input());
        List<Integer> keys = aggregate.keys();
        List<Integer> outputKeys = first(keys.size());
        int end = aggregate.schema().size() - 1;
        if (input.spread().gathers(keys)) {
            return new Placed(over(aggregate, input.node()), after(input, keys, outputKeys));
        }
        if (aggregate.window() instanceof WindowSpec.Attached attached) {
            // rows of one window are together already, or may be by their window when there are no keys
            List<Integer> by = keys.isEmpty() ? List.of(attached.endColumn()) : keys;
            return new Placed(
                    over(aggregate, gathered(input, by)), after(input, by, keys.isEmpty() ? List.of(end) : outputKeys));
        }
        List<Integer> by = spreadOf(keys.size());
        Spread spread = keys.isEmpty() ? Spread.TOGETHER : new Spread.By(by);
        if (AggregateState.canSplit(aggregate.calls(), false)) {
            return new Placed(TwoPhases.of(aggregate, by, input.node()), spread);
        }
        boolean isSession = aggregate.window() instanceof WindowSpec.Session;
        if (!isSession && DistinctPhases.canSplit(aggregate.calls())) {
            return new Placed(
                    DistinctPhases.of(aggregate, input.node()),
                    keys.isEmpty() ? Spread.TOGETHER : new Spread.By(outputKeys));
        }
        return new Placed(over(aggregate, exchange(input.node(), chosen(keys, by))), spread);
    }

    @Override
    public Placed windowExtreme(PlanNode.WindowExtreme extreme) {
        Placed input = place(extreme.input());
        List<Integer> by = extreme.keys().isEmpty() && extreme.window() instanceof WindowSpec.Attached window
                ? List.of(window.endColumn())
                : extreme.keys();
        if (extreme.keys().isEmpty() && !input.spread().gathers(by)) {
            return new Placed(TwoPhases.of(extreme, by, input.node()), after(input, by, by));
        }
        return new Placed(over(extreme, gathered(input, by)), after(input, by, by));
    }

    /** Equal keys meet: where one side is spread by some of the keys already, the other follows. */
    @Override
    public Placed join(PlanNode.Join join) {
        Placed left = placeFor(join.left(), join.leftKeys());
        Placed right = placeFor(join.right(), join.rightKeys());
        if (left.spread() instanceof Spread.Together && right.spread() instanceof Spread.Together) {
            return new Placed(Nodes.withInputs(join, List.of(left.node(), right.node())), Spread.TOGETHER);
        }
        List<Integer> by = spreadKeys(left.spread(), join.leftKeys())
                .or(() -> spreadKeys(right.spread(), join.rightKeys()))
                .orElse(first(join.leftKeys().size()));
        List<Integer> leftBy = by.stream().map(join.leftKeys()::get).toList();
        List<Integer> rightBy = by.stream().map(join.rightKeys()::get).toList();
        PlanNode joined = Nodes.withInputs(join, List.of(exchangedTo(left, leftBy), exchangedTo(right, rightBy)));
        return new Placed(joined, by.isEmpty() ? Spread.TOGETHER : outputSpread(join, leftBy, rightBy));
    }

    /** All inputs are spread by all keys. */
    @Override
    public Placed multiJoin(PlanNode.MultiJoin join) {
        List<PlanNode> inputs = new ArrayList<>();
        for (int i = 0; i < join.inputs().size(); i++) {
            List<Integer> keys = join.keys().get(i);
            inputs.add(exchangedTo(placeFor(join.inputs().get(i), keys), keys));
        }
        return new Placed(
                Nodes.withInputs(join, inputs), new Spread.By(join.keys().get(0)));
    }

    /** Which of the keys, by position, rows are spread by. */
    private static Optional<List<Integer>> spreadKeys(Spread spread, List<Integer> keys) {
        return spread instanceof Spread.By by && keys.containsAll(by.columns())
                ? Optional.of(by.columns().stream().map(keys::indexOf).toList())
                : Optional.empty();
    }

    /** By all these columns in their order, or together. */
    private static PlanNode exchangedTo(Placed rows, List<Integer> keys) {
        Spread wanted = keys.isEmpty() ? Spread.TOGETHER : new Spread.By(keys);
        return rows.spread().equals(wanted) ? rows.node() : exchange(rows.node(), keys);
    }

    /** Rows padded with NULL keys are where the other side's keys put them. */
    private static Spread outputSpread(PlanNode.Join join, List<Integer> leftBy, List<Integer> rightBy) {
        return switch (join.kind()) {
            case INNER, LEFT, SEMI, ANTI -> new Spread.By(leftBy);
            case RIGHT ->
                new Spread.By(rightBy.stream()
                        .map(column -> column + join.left().schema().size())
                        .toList());
            case FULL -> Spread.ANY;
        };
    }

    @Override
    public Placed topN(PlanNode.TopN topN) {
        Placed input = place(topN.input());
        List<Integer> by = topN.partition();
        if (by.isEmpty() && !input.spread().gathers(by)) {
            return new Placed(TwoPhases.of(topN, input.node()), Spread.TOGETHER);
        }
        return new Placed(over(topN, gathered(input, by)), after(input, by, by));
    }

    /** A partition's rows meet in one task; which columns show the partition is found among the outputs. */
    @Override
    public Placed match(PlanNode.Match match) {
        Placed input = place(match.input());
        List<Integer> by = match.partition();
        PlanNode node = over(match, gathered(input, by));
        List<Integer> shown = by.stream().map(column -> shownAt(match, column)).toList();
        if (by.isEmpty() || input.spread() instanceof Spread.Together) {
            return new Placed(node, Spread.TOGETHER);
        }
        return new Placed(node, shown.contains(-1) ? Spread.ANY : after(input, by, shown));
    }

    /** Where the output shows a column of the input; -1 where nowhere. */
    private static int shownAt(PlanNode.Match match, int column) {
        return IntStream.range(0, match.outputs().size())
                .filter(output -> match.outputs().get(output) instanceof Expression.Column of
                        && match.values().get(of.index()) instanceof MatchValue.Shown shown
                        && shown.index() == column)
                .findFirst()
                .orElse(-1);
    }

    @Override
    public Placed over(PlanNode.Over over) {
        Placed input = place(over.input());
        List<Integer> by = over.partition();
        return new Placed(over(over, gathered(input, by)), after(input, by, by));
    }

    /** Linear in weights: a row may be added in one task and taken back in another. */
    @Override
    public Placed timeFilter(PlanNode.TimeFilter filter) {
        Placed input = place(filter.input());
        return new Placed(over(filter, input.node()), input.spread());
    }

    /** In one task, so that all is emitted together. */
    @Override
    public Placed pace(PlanNode.Pace pace) {
        return new Placed(over(pace, gathered(place(pace.input()), List.of())), Spread.TOGETHER);
    }

    @Override
    public Placed union(PlanNode.Union union) {
        List<Placed> inputs = union.inputs().stream().map(this::place).toList();
        Spread first = inputs.get(0).spread();
        if (inputs.stream().allMatch(input -> input.spread().equals(first))) {
            return new Placed(
                    Nodes.withInputs(union, inputs.stream().map(Placed::node).toList()), first);
        }
        List<PlanNode> nodes = new ArrayList<>();
        for (int i = 0; i < inputs.size(); i++) {
            PlanNode node = inputs.get(i).node();
            boolean together = inputs.get(i).spread() instanceof Spread.Together;
            nodes.add(together ? new Exchange(node, spreadOut(union.inputs().get(i))) : node);
        }
        return new Placed(Nodes.withInputs(union, nodes), Spread.ANY);
    }

    /** A row that is taken back must come where the row itself went. */
    private Distribution spreadOut(PlanNode rows) {
        return inference.of(rows).appendOnly() || rows.schema().size() == 0
                ? new Distribution.RoundRobin()
                : new Distribution.Hash(first(rows.schema().size()));
    }

    @Override
    public Placed sort(PlanNode.Sort sort) {
        Placed input = place(sort.input());
        if (sort.limit() >= 0 && !(input.spread() instanceof Spread.Together)) {
            return new Placed(TwoPhases.of(sort, input.node(), inference), Spread.TOGETHER);
        }
        return new Placed(over(sort, gathered(input, List.of())), Spread.TOGETHER);
    }

    @Override
    public Placed exchange(PlanNode.Exchange exchange) {
        throw new AssertionError("there are no exchanges yet");
    }
}
