package dev.millrace.planner.parallel;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Counts distinct values in several tasks even when there are few groups: rows are spread by key and value, so that no
 * value is counted in two tasks, and the counts are added. One branch per distinct argument; the first also does the
 * calls that are not distinct.
 *
 * <pre>
 * Aggregate(k; count(DISTINCT a), count(DISTINCT b), max(c))
 *   X
 * becomes
 * Calc(k, sum::bigint, sum::bigint, max)
 *   Aggregate(k; sum, sum, max)
 *     Exchange(Hash(k))
 *       Union
 *         Calc(k, count, NULL, max)
 *           Aggregate(k; count(DISTINCT a), max(c))
 *             Exchange(Hash(k, a))
 *               X
 *         Calc(k, NULL, count, NULL)
 *           Aggregate(k; count(DISTINCT b))
 *             Exchange(Hash(k, b))
 *               X
 * </pre>
 *
 * Windows alike, where the second aggregation is one of attached windows.
 */
final class DistinctPhases {
    private static final Set<Function> ADDED = Set.of(Function.COUNT, Function.SUM);
    private static final Set<Function> COMPARED =
            Set.of(Function.MIN, Function.MAX, Function.BOOL_AND, Function.BOOL_OR);

    private final List<Integer> keys;
    private final List<AggregateCall> calls;
    private final PlanNode input;

    /** Of a window aggregation. */
    private final OptionalInt timeColumn;

    private DistinctPhases(List<Integer> keys, List<AggregateCall> calls, OptionalInt timeColumn, PlanNode input) {
        this.keys = keys;
        this.timeColumn = timeColumn;
        this.calls = calls;
        this.input = input;
    }

    /** Whether there are distinct calls, and every call's value can be made from the values of parts. */
    static boolean canSplit(List<AggregateCall> calls) {
        return calls.stream().anyMatch(AggregateCall::distinct)
                && calls.stream()
                        .allMatch(call -> ADDED.contains(call.function())
                                || COMPARED.contains(call.function()) && !call.distinct());
    }

    static PlanNode of(PlanNode.Aggregate aggregate, PlanNode input) {
        DistinctPhases phases = new DistinctPhases(aggregate.keys(), aggregate.calls(), OptionalInt.empty(), input);
        return phases.merged(
                (rows, moved, branchCalls) -> Nodes.aggregate(
                        rows, moved.of(aggregate.keys()), branchCalls, Phase.SINGLE, aggregate.appendOnlyInput()),
                (rows, mergeCalls) -> Nodes.aggregate(
                        rows, Parallelism.first(aggregate.keys().size()), mergeCalls, Phase.SINGLE, false),
                0);
    }

    static PlanNode of(PlanNode.WindowAggregate aggregate, PlanNode input) {
        DistinctPhases phases =
                new DistinctPhases(aggregate.keys(), aggregate.calls(), OptionalInt.of(aggregate.timeColumn()), input);
        int start = aggregate.schema().size() - 2;
        return phases.merged(
                (rows, moved, branchCalls) -> Nodes.windowAggregate(
                        rows,
                        moved.of(aggregate.timeColumn()),
                        aggregate.window(),
                        moved.of(aggregate.keys()),
                        branchCalls,
                        Phase.SINGLE),
                (rows, mergeCalls) -> Nodes.windowAggregate(
                        rows,
                        start + 1,
                        new WindowSpec.Attached(start, start + 1),
                        Parallelism.first(aggregate.keys().size()),
                        mergeCalls,
                        Phase.SINGLE),
                2);
    }

    private interface Branch {
        PlanNode aggregate(PlanNode rows, Moved moved, List<AggregateCall> calls);
    }

    private interface Merge {
        PlanNode aggregate(PlanNode rows, List<AggregateCall> calls);
    }

    /** Where the input's columns are after the choice of those a branch needs. */
    private record Moved(List<Integer> kept) {
        int of(int column) {
            return kept.indexOf(column);
        }

        List<Integer> of(List<Integer> columns) {
            return columns.stream().map(this::of).toList();
        }
    }

    /**
     * @param tail columns that the aggregations have behind the calls: the bounds of a window
     */
    private PlanNode merged(Branch branch, Merge merge, int tail) {
        Map<Integer, List<Integer>> callsByArgument = new LinkedHashMap<>();
        for (int call = 0; call < calls.size(); call++) {
            if (calls.get(call).distinct()) {
                callsByArgument
                        .computeIfAbsent(calls.get(call).arguments().get(0), argument -> new ArrayList<>())
                        .add(call);
            }
        }
        List<Integer> first = callsByArgument.values().iterator().next();
        for (int call = 0; call < calls.size(); call++) {
            if (!calls.get(call).distinct()) {
                first.add(call);
            }
        }
        List<PlanNode> branches = new ArrayList<>();
        callsByArgument.forEach((argument, ofBranch) -> branches.add(branch(argument, ofBranch, branch, tail)));
        PlanNode all = branches.size() == 1 ? branches.get(0) : Nodes.union(branches);
        PlanNode exchanged = Parallelism.exchange(all, Parallelism.first(keys.size()));
        List<AggregateCall> merging = new ArrayList<>();
        for (int call = 0; call < calls.size(); call++) {
            merging.add(merging(calls.get(call), keys.size() + call));
        }
        return restored(merge.aggregate(exchanged, merging), tail);
    }

    private PlanNode branch(int argument, List<Integer> ofBranch, Branch branch, int tail) {
        Moved moved = new Moved(needed(ofBranch));
        List<Integer> spread = new ArrayList<>(moved.of(keys));
        if (!spread.contains(moved.of(argument))) {
            spread.add(moved.of(argument));
        }
        PlanNode rows = Parallelism.exchange(Nodes.select(input, moved.kept()), spread);
        PlanNode aggregated = branch.aggregate(
                rows,
                moved,
                ofBranch.stream().map(call -> renumber(calls.get(call), moved)).toList());
        List<Expression> columns = new ArrayList<>();
        for (int key = 0; key < keys.size(); key++) {
            columns.add(Nodes.column(aggregated, key));
        }
        for (int call = 0; call < calls.size(); call++) {
            int position = ofBranch.indexOf(call);
            columns.add(
                    position < 0 ? new Null(calls.get(call).type()) : Nodes.column(aggregated, keys.size() + position));
        }
        int width = aggregated.schema().size();
        for (int column = width - tail; column < width; column++) {
            columns.add(Nodes.column(aggregated, column));
        }
        return columns.equals(Nodes.columns(aggregated)) ? aggregated : Nodes.project(aggregated, columns);
    }

    /** Columns that a branch reads. */
    private List<Integer> needed(List<Integer> ofBranch) {
        BitSet needed = new BitSet();
        keys.forEach(needed::set);
        for (int index : ofBranch) {
            AggregateCall call = calls.get(index);
            call.arguments().forEach(needed::set);
            call.filter().ifPresent(needed::set);
        }
        timeColumn.ifPresent(needed::set);
        return needed.stream().boxed().toList();
    }

    private static AggregateCall renumber(AggregateCall call, Moved moved) {
        return new AggregateCall(
                call.function(),
                moved.of(call.arguments()),
                call.distinct(),
                call.filter().isPresent()
                        ? OptionalInt.of(moved.of(call.filter().getAsInt()))
                        : OptionalInt.empty(),
                List.of(),
                call.parameters(),
                call.type());
    }

    private static AggregateCall merging(AggregateCall call, int column) {
        Function function = ADDED.contains(call.function()) ? Function.SUM : call.function();
        DataType type = ADDED.contains(call.function()) ? sumOf(call.type()) : call.type();
        return new AggregateCall(function, List.of(column), false, OptionalInt.empty(), List.of(), List.of(), type);
    }

    /** The type of a sum, as {@link Function#SUM} has it. */
    private static DataType sumOf(DataType type) {
        return switch (type.kind()) {
            case SMALLINT, INTEGER -> DataType.BIGINT;
            case BIGINT -> DataType.numeric(DataType.MAX_NUMERIC_PRECISION, 0);
            case NUMERIC -> DataType.numeric(DataType.MAX_NUMERIC_PRECISION, type.scale());
            default -> type;
        };
    }

    /** The former types: a sum of counts is a BIGINT that is never NULL. */
    private PlanNode restored(PlanNode merged, int tail) {
        List<Expression> columns = new ArrayList<>();
        for (int column = 0; column < merged.schema().size(); column++) {
            int call = column - keys.size();
            Expression value = Nodes.column(merged, column);
            if (call >= 0 && call < calls.size()) {
                DataType type = calls.get(call).type();
                value = value.type().equals(type) ? value : new Cast(value, type);
                if (!calls.get(call).nullable()) {
                    value = new Call("coalesce", List.of(value, new Literal(0L, type)), type, false);
                }
            }
            columns.add(value);
        }
        assert columns.size() == keys.size() + calls.size() + tail;
        return Nodes.project(merged, columns);
    }
}
