package dev.millrace.planner.prune;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.plan.match.MatchValue;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.NodeVisitor;
import dev.millrace.planner.tree.Nodes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * Computes and reads only columns that are used above, down to the scans.
 *
 * <pre>
 * Calc($0)                      becomes    Calc($0)
 *   Aggregate($1; sum, max)                  Aggregate($0; sum)
 *     Scan(all)                                Scan($1, $4)
 * </pre>
 *
 * A node may keep columns it needs itself; whoever is above picks by {@link Pruned#position}.
 */
public final class PruneColumns implements NodeVisitor<PruneColumns.Pruned> {
    private final BitSet wanted;
    private final Map<PlanNode, Map<BitSet, Pruned>> done; // what several nodes read, they read once

    private PruneColumns(BitSet wanted, Map<PlanNode, Map<BitSet, Pruned>> done) {
        this.wanted = wanted;
        this.done = done;
    }

    public static PlanNode apply(PlanNode plan) {
        BitSet all = new BitSet();
        all.set(0, plan.schema().size());
        return new PruneColumns(all, new IdentityHashMap<>()).prune(plan, all).select(all);
    }

    private Pruned prune(PlanNode node, BitSet wanted) {
        Map<BitSet, Pruned> ofNode = done.computeIfAbsent(node, any -> new HashMap<>());
        Pruned known = ofNode.get(wanted);
        if (known == null) {
            Interrupt.checkCurrent();
            BitSet asked = (BitSet) wanted.clone();
            known = NodeVisitor.visit(node, new PruneColumns((BitSet) wanted.clone(), done));
            ofNode.put(asked, known);
        }
        return known;
    }

    /**
     * A node with fewer columns.
     *
     * @param positions where each former column is now, -1 for those that are gone
     */
    record Pruned(PlanNode node, int[] positions) {
        static Pruned unchanged(PlanNode node) {
            return new Pruned(node, IntStream.range(0, node.schema().size()).toArray());
        }

        int position(int column) {
            assert positions[column] >= 0 : "column " + column + " was not wanted of " + node;
            return positions[column];
        }

        List<Integer> positions(List<Integer> columns) {
            return columns.stream().map(this::position).toList();
        }

        Expression renumber(Expression expression) {
            return Expressions.renumber(expression, this::position);
        }

        /** Just these columns, in their former order. */
        PlanNode select(BitSet columns) {
            return Nodes.select(
                    node, columns.stream().map(this::position).boxed().toList());
        }
    }

    private static BitSet set(List<Integer> columns) {
        BitSet set = new BitSet();
        columns.forEach(set::set);
        return set;
    }

    private static int[] gone(int width) {
        int[] positions = new int[width];
        Arrays.fill(positions, -1);
        return positions;
    }

    private BitSet wantedBelow(int width) {
        return wanted.get(0, width);
    }

    @Override
    public Pruned scan(PlanNode.Scan scan) {
        List<Integer> kept = wanted.stream().boxed().toList();
        int[] positions = gone(scan.columns().size());
        kept.forEach(column -> positions[column] = kept.indexOf(column));
        List<Integer> columns = kept.stream().map(scan.columns()::get).toList();
        return new Pruned(
                new PlanNode.Scan(
                        scan.relation(),
                        columns,
                        scan.predicates(),
                        scan.condensation(),
                        scan.schema().select(kept)),
                positions);
    }

    @Override
    public Pruned values(PlanNode.Values values) {
        return Pruned.unchanged(values);
    }

    @Override
    public Pruned watermark(PlanNode.Watermark watermark) {
        BitSet needed = (BitSet) wanted.clone();
        needed.set(watermark.timeColumn());
        Pruned input = prune(watermark.input(), needed);
        return new Pruned(
                Nodes.watermark(watermark, input.node(), input.position(watermark.timeColumn())), input.positions());
    }

    @Override
    public Pruned versions(PlanNode.Versions versions) {
        int width = versions.input().schema().size();
        BitSet needed = wantedBelow(width);
        versions.key().forEach(needed::set);
        needed.set(versions.timeColumn());
        Pruned input = prune(versions.input(), needed);
        PlanNode.Versions node =
                Nodes.versions(input.node(), input.positions(versions.key()), input.position(versions.timeColumn()));
        int[] positions = Arrays.copyOf(input.positions(), width + 1);
        positions[width] = node.schema().size() - 1;
        return new Pruned(node, positions);
    }

    @Override
    public Pruned calc(PlanNode.Calc calc) {
        if (Nodes.draws(calc)) { // who else reads it gets the same rows, so it stays what it is for all
            BitSet all = new BitSet();
            all.set(0, calc.projections().size());
            if (!wanted.equals(all)) {
                return prune(calc, all);
            }
        }
        BitSet more = Nodes.waiting(calc);
        more.or(wanted);
        if (!more.equals(wanted)) {
            return prune(calc, more);
        }
        BitSet needed = new BitSet();
        wanted.stream()
                .forEach(column -> Expressions.addColumns(calc.projections().get(column), needed));
        calc.condition().ifPresent(condition -> Expressions.addColumns(condition, needed));
        Pruned input = prune(calc.input(), needed);
        int[] positions = gone(calc.projections().size());
        List<Expression> projections = new ArrayList<>();
        wanted.stream().forEach(column -> {
            positions[column] = projections.size();
            projections.add(input.renumber(calc.projections().get(column)));
        });
        PlanNode pruned = Nodes.calc(input.node(), calc.condition().map(input::renumber), projections);
        boolean identity = calc.condition().isEmpty() && projections.equals(Nodes.columns(input.node()));
        return new Pruned(identity ? input.node() : pruned, positions);
    }

    @Override
    public Pruned windowAssign(PlanNode.WindowAssign assign) {
        int width = assign.input().schema().size();
        BitSet needed = wantedBelow(width);
        needed.set(assign.timeColumn());
        Pruned input = prune(assign.input(), needed);
        PlanNode pruned = Nodes.windowAssign(input.node(), input.position(assign.timeColumn()), assign.window());
        return new Pruned(pruned, withWindow(input, width));
    }

    /** Kept columns that nobody wants go; what functions make stays, as their rows count. */
    @Override
    public Pruned expand(PlanNode.Expand expand) {
        List<Integer> places = IntStream.range(0, expand.kept().size())
                .filter(wanted::get)
                .boxed()
                .toList();
        List<Integer> kept = places.stream().map(expand.kept()::get).toList();
        BitSet needed = set(kept);
        expand.calls().forEach(call -> call.arguments().forEach(needed::set));
        Pruned input = prune(expand.input(), needed);
        List<PlanNode.TableCall> calls = expand.calls().stream()
                .map(call -> new PlanNode.TableCall(call.function(), input.positions(call.arguments()), call.outputs()))
                .toList();
        PlanNode pruned = Nodes.expand(input.node(), input.positions(kept), calls, expand.ordinality(), expand.outer());
        int[] positions = gone(expand.schema().size());
        for (int i = 0; i < places.size(); i++) {
            positions[places.get(i)] = i;
        }
        for (int made = expand.kept().size(); made < positions.length; made++) {
            positions[made] = made - expand.kept().size() + places.size();
        }
        return new Pruned(pruned, positions);
    }

    /** Positions below, followed by the window's two columns. */
    private static int[] withWindow(Pruned input, int width) {
        int[] positions = Arrays.copyOf(input.positions(), width + 2);
        positions[width] = input.node().schema().size();
        positions[width + 1] = positions[width] + 1;
        return positions;
    }

    /** The calls that are wanted, from column {@code first} on. */
    private List<AggregateCall> wantedCalls(List<AggregateCall> calls, int first) {
        return IntStream.range(0, calls.size())
                .filter(call -> wanted.get(first + call))
                .mapToObj(calls::get)
                .toList();
    }

    private int[] groupPositions(int keys, List<AggregateCall> calls, int tail) {
        int[] positions = gone(keys + calls.size() + tail);
        int next = 0;
        for (int column = 0; column < positions.length; column++) {
            boolean call = column >= keys && column < keys + calls.size();
            if (!call || wanted.get(column)) {
                positions[column] = next++;
            }
        }
        return positions;
    }

    @Override
    public Pruned aggregate(PlanNode.Aggregate aggregate) {
        // without keys and calls there would be no row: one call stays
        int keys = aggregate.keys().size();
        List<AggregateCall> calls = wantedCalls(aggregate.calls(), keys);
        if (keys == 0 && calls.isEmpty() && !aggregate.calls().isEmpty()) {
            wanted.set(0);
            calls = wantedCalls(aggregate.calls(), keys);
        }
        BitSet needed = set(aggregate.keys());
        NamedColumns.add(calls, needed);
        aggregate.forgetting().ifPresent(rule -> needed.set(rule.timeColumn()));
        Pruned input = prune(aggregate.input(), needed);
        PlanNode pruned = Nodes.aggregate(
                        input.node(),
                        input.positions(aggregate.keys()),
                        NamedColumns.renumbered(calls, input),
                        aggregate.phase(),
                        aggregate.appendOnlyInput())
                .forgetting(NamedColumns.renumbered(aggregate.forgetting(), input));
        return new Pruned(pruned, groupPositions(keys, aggregate.calls(), 0));
    }

    @Override
    public Pruned windowAggregate(PlanNode.WindowAggregate aggregate) {
        int keys = aggregate.keys().size();
        List<AggregateCall> calls = wantedCalls(aggregate.calls(), keys);
        BitSet needed = set(aggregate.keys());
        NamedColumns.add(aggregate.window(), aggregate.timeColumn(), needed);
        NamedColumns.add(calls, needed);
        Pruned input = prune(aggregate.input(), needed);
        PlanNode pruned = Nodes.windowAggregate(
                input.node(),
                input.position(aggregate.timeColumn()),
                NamedColumns.renumbered(aggregate.window(), input),
                input.positions(aggregate.keys()),
                NamedColumns.renumbered(calls, input),
                aggregate.phase());
        return new Pruned(pruned, groupPositions(keys, aggregate.calls(), 2));
    }

    @Override
    public Pruned windowExtreme(PlanNode.WindowExtreme extreme) {
        int width = extreme.input().schema().size();
        BitSet needed = wantedBelow(width);
        NamedColumns.add(extreme.window(), extreme.timeColumn(), needed);
        needed.set(extreme.valueColumn());
        extreme.keys().forEach(needed::set);
        Pruned input = prune(extreme.input(), needed);
        PlanNode pruned = Nodes.windowExtreme(
                input.node(),
                input.position(extreme.timeColumn()),
                NamedColumns.renumbered(extreme.window(), input),
                input.positions(extreme.keys()),
                input.position(extreme.valueColumn()),
                extreme.maximum(),
                extreme.closedEnd(),
                extreme.phase());
        return new Pruned(pruned, withWindow(input, width));
    }

    @Override
    public Pruned join(PlanNode.Join join) {
        int width = join.left().schema().size();
        int outputWidth = join.schema().size();
        BitSet needed = (BitSet) wanted.clone();
        join.residual().ifPresent(residual -> Expressions.addColumns(residual, needed));
        BitSet ofLeft = needed.get(0, width);
        BitSet ofRight = needed.get(width, Math.max(width, needed.length()));
        join.leftKeys().forEach(ofLeft::set);
        join.rightKeys().forEach(ofRight::set);
        join.time().ifPresent(time -> {
            time.leftColumns().forEach(ofLeft::set);
            time.rightColumns().forEach(ofRight::set);
        });
        Pruned left = prune(join.left(), ofLeft);
        Pruned right = prune(join.right(), ofRight);
        int leftWidth = left.node().schema().size();
        int[] both = gone(width + join.right().schema().size());
        System.arraycopy(left.positions(), 0, both, 0, width);
        for (int column = 0; column < right.positions().length; column++) {
            both[width + column] = right.positions()[column] < 0 ? -1 : leftWidth + right.positions()[column];
        }
        PlanNode pruned = Nodes.join(
                left.node(),
                right.node(),
                join.kind(),
                left.positions(join.leftKeys()),
                right.positions(join.rightKeys()),
                join.residual().map(residual -> Expressions.renumber(residual, column -> both[column])),
                join.time().map(time -> time.renumbered(left::position, right::position)));
        return new Pruned(pruned, Arrays.copyOf(both, outputWidth));
    }

    /** Made of joins that were pruned already. */
    @Override
    public Pruned multiJoin(PlanNode.MultiJoin join) {
        return new Pruned(join, IntStream.range(0, join.schema().size()).toArray());
    }

    @Override
    public Pruned topN(PlanNode.TopN topN) {
        int width = topN.input().schema().size();
        boolean emitRank = topN.emitRank() && wanted.get(width);
        BitSet needed = wantedBelow(width);
        topN.partition().forEach(needed::set);
        topN.order().forEach(key -> needed.set(key.column()));
        topN.windowEnd().ifPresent(needed::set);
        topN.forgetting().ifPresent(rule -> needed.set(rule.timeColumn()));
        Pruned input = prune(topN.input(), needed);
        PlanNode.TopN pruned = (PlanNode.TopN) Nodes.topN(
                input.node(),
                input.positions(topN.partition()),
                NamedColumns.renumberedOrder(topN.order(), input),
                topN.rank(),
                topN.limit(),
                topN.offset(),
                emitRank,
                topN.windowEnd().isPresent()
                        ? OptionalInt.of(input.position(topN.windowEnd().getAsInt()))
                        : OptionalInt.empty());
        int[] positions = Arrays.copyOf(input.positions(), topN.schema().size());
        if (topN.emitRank()) {
            positions[width] = emitRank ? input.node().schema().size() : -1;
        }
        return new Pruned(pruned.forgetting(NamedColumns.renumbered(topN.forgetting(), input)), positions);
    }

    /** Outputs are wanted or not; what remains reads its values, and those their columns. */
    @Override
    public Pruned match(PlanNode.Match match) {
        List<Integer> kept = wanted.stream().boxed().toList();
        List<Expression> outputs = kept.stream().map(match.outputs()::get).toList();
        BitSet usedValues = new BitSet();
        outputs.forEach(output -> Expressions.addColumns(output, usedValues));
        List<MatchValue> values =
                usedValues.stream().mapToObj(match.values()::get).toList();
        BitSet needed = set(match.partition());
        match.order().forEach(key -> needed.set(key.column()));
        values.forEach(value -> value.column().ifPresent(needed::set));
        match.spec().conditions().stream()
                .flatMap(Optional::stream)
                .flatMap(condition -> condition.values().stream())
                .forEach(value -> value.column().ifPresent(needed::set));
        Pruned input = prune(match.input(), needed);
        int[] valueAt = gone(match.values().size());
        int[] next = {0};
        usedValues.stream().forEach(value -> valueAt[value] = next[0]++);
        PlanNode pruned = new PlanNode.Match(
                input.node(),
                input.positions(match.partition()),
                NamedColumns.renumberedOrder(match.order(), input),
                match.spec().renumber(input::position),
                values.stream().map(value -> value.renumber(input::position)).toList(),
                outputs.stream()
                        .map(output -> Expressions.renumber(output, value -> valueAt[value]))
                        .toList(),
                match.schema().select(kept));
        int[] positions = gone(match.outputs().size());
        kept.forEach(column -> positions[column] = kept.indexOf(column));
        return new Pruned(pruned, positions);
    }

    @Override
    public Pruned over(PlanNode.Over over) {
        int width = over.input().schema().size();
        List<OverCall> calls = IntStream.range(0, over.calls().size())
                .filter(call -> wanted.get(width + call))
                .mapToObj(over.calls()::get)
                .toList();
        if (calls.isEmpty() && over.closing().isEmpty()) {
            Pruned input = prune(over.input(), wantedBelow(width)); // every row comes out once, whatever its neighbours
            int[] positions = gone(over.schema().size());
            System.arraycopy(input.positions(), 0, positions, 0, width);
            return new Pruned(input.node(), positions);
        }
        BitSet needed = wantedBelow(width);
        over.partition().forEach(needed::set);
        over.order().forEach(key -> needed.set(key.column()));
        calls.forEach(call -> NamedColumns.add(call, needed));
        Pruned input = prune(over.input(), needed);
        PlanNode pruned = Nodes.over(
                input.node(),
                input.positions(over.partition()),
                NamedColumns.renumberedOrder(over.order(), input),
                calls.stream().map(call -> NamedColumns.renumbered(call, input)).toList(),
                over.closing().isPresent()
                        ? OptionalInt.of(input.position(over.closing().getAsInt()))
                        : OptionalInt.empty());
        int[] positions = Arrays.copyOf(input.positions(), over.schema().size());
        int next = input.node().schema().size();
        for (int column = width; column < positions.length; column++) {
            positions[column] = wanted.get(column) ? next++ : -1;
        }
        return new Pruned(pruned, positions);
    }

    @Override
    public Pruned timeFilter(PlanNode.TimeFilter filter) {
        BitSet needed = (BitSet) wanted.clone();
        needed.set(filter.timeColumn());
        Pruned input = prune(filter.input(), needed);
        PlanNode.TimeFilter pruned = new PlanNode.TimeFilter(
                input.node(), input.position(filter.timeColumn()), filter.bound(), filter.leaving(), filter.atBound());
        return new Pruned(pruned, input.positions());
    }

    /** Equal rows cancel out, so which columns there are matters not. */
    @Override
    public Pruned pace(PlanNode.Pace pace) {
        Pruned input = prune(pace.input(), wanted);
        return new Pruned(new PlanNode.Pace(input.node(), pace.periodMicros()), input.positions());
    }

    @Override
    public Pruned union(PlanNode.Union union) {
        List<PlanNode> inputs = union.inputs().stream()
                .map(input -> prune(input, (BitSet) wanted.clone()).select(wanted))
                .toList();
        int[] positions = gone(union.schema().size());
        int next = 0;
        for (int column : wanted.stream().toArray()) {
            positions[column] = next++;
        }
        return new Pruned(Nodes.union(inputs), positions);
    }

    @Override
    public Pruned sort(PlanNode.Sort sort) {
        BitSet needed = (BitSet) wanted.clone();
        sort.order().forEach(key -> needed.set(key.column()));
        Pruned input = prune(sort.input(), needed);
        return new Pruned(
                new PlanNode.Sort(
                        input.node(), NamedColumns.renumberedOrder(sort.order(), input), sort.limit(), sort.offset()),
                input.positions());
    }

    @Override
    public Pruned exchange(PlanNode.Exchange exchange) {
        BitSet needed = (BitSet) wanted.clone();
        if (exchange.distribution() instanceof PlanNode.Distribution.Hash hash) {
            hash.columns().forEach(needed::set);
        }
        Pruned input = prune(exchange.input(), needed);
        PlanNode.Distribution distribution = exchange.distribution() instanceof PlanNode.Distribution.Hash hash
                ? new PlanNode.Distribution.Hash(input.positions(hash.columns()))
                : exchange.distribution();
        return new Pruned(new PlanNode.Exchange(input.node(), distribution), input.positions());
    }
}
