package dev.millrace.planner.algebra;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Rank;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.sql.algebra.ExpressionTranslator;
import dev.millrace.sql.algebra.OverFunction;
import dev.millrace.sql.algebra.TypeMapper;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rex.RexFieldCollation;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexShuttle;

/**
 * Window functions: those of one window in a node each, and on top a node for each rank, to be limited by the filter above.
 *
 * <pre>
 * Project(a, sum(v) OVER (PARTITION BY b ORDER BY c), ROW_NUMBER() OVER (PARTITION BY b ORDER BY c DESC))
 *   X
 * becomes
 * Calc(a, sum, rank)
 *   TopN(partition b, order c DESC, no limit, rank emitted)
 *     Over(partition b, order c; sum(v))
 *       X
 * </pre>
 */
final class OverTranslation {
    /** Of a TopN that keeps all. */
    static final long NO_LIMIT = Long.MAX_VALUE;

    /** What the calls of one node agree in. */
    private record Window(List<Integer> partition, List<OrderKey> order) {}

    private final List<Expression> columns;
    private final PlanNode input;
    private final Map<RexOver, Integer> places = new LinkedHashMap<>();

    private OverTranslation(PlanNode input) {
        this.input = input;
        this.columns = new ArrayList<>(Nodes.columns(input));
    }

    static PlanNode translate(PlanNode input, List<RexNode> projections) {
        return new OverTranslation(input).translate(projections);
    }

    private PlanNode translate(List<RexNode> projections) {
        projections.forEach(projection -> projection.accept(new RexShuttle() {
            @Override
            public RexNode visitOver(RexOver over) {
                places.putIfAbsent(over, -1);
                return over;
            }
        }));
        Map<Window, Map<RexOver, OverCall>> framed = new LinkedHashMap<>();
        Map<RexOver, Window> ranks = new LinkedHashMap<>();
        for (RexOver over : places.keySet()) {
            Window window = window(over);
            if (rank(spec(over).function()).isPresent()) {
                ranks.put(over, window);
            } else {
                framed.computeIfAbsent(window, any -> new LinkedHashMap<>()).put(over, call(over));
            }
        }
        PlanNode node = columns.size() == input.schema().size() ? input : Nodes.project(input, columns);
        for (Map.Entry<Window, Map<RexOver, OverCall>> entry : framed.entrySet()) {
            int place = node.schema().size();
            for (RexOver over : entry.getValue().keySet()) {
                places.put(over, place++);
            }
            Window window = entry.getKey();
            List<OverCall> calls = List.copyOf(entry.getValue().values());
            node = Nodes.over(node, window.partition(), window.order(), calls, OptionalInt.empty());
        }
        for (Map.Entry<RexOver, Window> entry : ranks.entrySet()) {
            places.put(entry.getKey(), node.schema().size());
            Rank rank = rank(spec(entry.getKey()).function()).orElseThrow();
            Window window = entry.getValue();
            node = Nodes.topN(node, window.partition(), window.order(), rank, NO_LIMIT, 0, true, OptionalInt.empty());
        }
        return Nodes.project(
                node,
                projections.stream()
                        .map(projection -> projection.accept(new RexShuttle() {
                            @Override
                            public RexNode visitOver(RexOver over) {
                                return new RexInputRef(Objects.requireNonNull(places.get(over)), over.getType());
                            }
                        }))
                        .map(ExpressionTranslator::translate)
                        .toList());
    }

    private static OverFunction.Spec spec(RexOver over) {
        if (over.getAggOperator() instanceof OverFunction function) {
            return function.spec();
        }
        throw new IllegalStateException("a window function of Calcite's own: " + over);
    }

    private static Optional<Rank> rank(OverCall.Function function) {
        return switch (function) {
            case ROW_NUMBER -> Optional.of(Rank.ROW_NUMBER);
            case RANK -> Optional.of(Rank.RANK);
            case DENSE_RANK -> Optional.of(Rank.DENSE_RANK);
            default -> Optional.empty();
        };
    }

    private Window window(RexOver over) {
        return new Window(
                over.getWindow().partitionKeys.stream()
                        .map(key -> columnOf(IntervalKeys.canonical(ExpressionTranslator.translate(key))))
                        .distinct()
                        .toList(),
                over.getWindow().orderKeys.stream().map(this::orderKey).toList());
    }

    private OrderKey orderKey(RexFieldCollation key) {
        boolean descending = key.getDirection() == RelFieldCollation.Direction.DESCENDING;
        boolean nullsFirst = switch (key.getNullDirection()) {
            case FIRST -> true;
            case LAST -> false;
            case UNSPECIFIED -> descending;
        };
        return new OrderKey(columnOf(key.left), descending, nullsFirst);
    }

    private OverCall call(RexOver over) {
        OverFunction.Spec spec = spec(over);
        List<RexNode> operands = new ArrayList<>(over.getOperands());
        List<Integer> bounds = new ArrayList<>();
        for (int i = operands.size() - spec.boundOperands(); i < operands.size(); i++) {
            bounds.add(columnOf(operands.get(i)));
        }
        operands = operands.subList(0, operands.size() - spec.boundOperands());
        OptionalInt filter = OptionalInt.empty();
        if (spec.filtered()) {
            filter = OptionalInt.of(columnOf(operands.get(operands.size() - 1)));
            operands = operands.subList(0, operands.size() - 1);
        }
        Frame frame = new Frame(
                spec.frame().unit(),
                bound(spec.frame(), spec.frame().start(), bounds),
                bound(spec.frame(), spec.frame().end(), bounds),
                spec.frame().exclusion());
        Optional<AggregateCall> aggregate = aggregate(over, spec, operands, filter);
        return new OverCall(
                spec.function(),
                aggregate,
                aggregate.isPresent()
                        ? List.of()
                        : operands.stream().map(this::columnOf).toList(),
                spec.parameter(),
                spec.ignoreNulls(),
                frame,
                TypeMapper.dataType(over.getType()),
                over.getType().isNullable());
    }

    private static Frame.Bound bound(Frame frame, Frame.Bound bound, List<Integer> columns) {
        return frame.isColumn(bound) ? new Frame.Bound(bound.kind(), columns.remove(0)) : bound;
    }

    private Optional<AggregateCall> aggregate(
            RexOver over, OverFunction.Spec spec, List<RexNode> operands, OptionalInt filter) {
        if (spec.aggregate().isEmpty()) {
            return Optional.empty();
        }
        AggregateCall.Function function = spec.aggregate().get();
        List<RexNode> arguments = operands;
        List<Literal> parameters = new ArrayList<>();
        if (function == AggregateCall.Function.STRING_AGG) {
            if (!(ExpressionTranslator.translate(operands.get(1)) instanceof Literal delimiter)) {
                throw Refusal.of("string_agg OVER takes a constant delimiter", "write the delimiter as a literal");
            }
            parameters.add(delimiter);
            arguments = operands.subList(0, 1);
        }
        return Optional.of(new AggregateCall(
                function,
                arguments.stream().map(this::columnOf).toList(),
                spec.distinct(),
                filter,
                List.of(),
                parameters,
                TypeMapper.dataType(over.getType())));
    }

    /** The column with this value, added behind the others if it is not there. */
    private int columnOf(RexNode value) {
        return columnOf(ExpressionTranslator.translate(value));
    }

    private int columnOf(Expression expression) {
        if (expression instanceof Column column) {
            return column.index();
        }
        int place = columns.indexOf(expression);
        if (place < 0) {
            place = columns.size();
            columns.add(expression);
        }
        return place;
    }
}
