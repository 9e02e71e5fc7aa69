package dev.millrace.planner.algebra;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * UNION, INTERSECT and EXCEPT as aggregations (in which NULL equals NULL, as it must):
 *
 * <pre>
 * a INTERSECT b    becomes    Calc(columns where count_a > 0 and count_b > 0)
 *                               Aggregate(columns; count FILTER from_a, count FILTER from_b)
 *                                 Union(a + (true, false), b + (false, true))
 * </pre>
 */
final class SetOperations {
    private SetOperations() {}

    static PlanNode distinct(PlanNode input) {
        List<Integer> all = IntStream.range(0, input.schema().size()).boxed().toList();
        return IntervalKeys.aggregate(input, all, List.of());
    }

    static PlanNode intersect(List<PlanNode> inputs, boolean all) {
        List<String> tests =
                IntStream.range(0, inputs.size()).mapToObj(i -> "gt").toList();
        return all ? numbered(inputs, tests) : counted(inputs, tests);
    }

    static PlanNode except(List<PlanNode> inputs, boolean all) {
        List<String> tests = IntStream.range(0, inputs.size())
                .mapToObj(i -> i == 0 ? "gt" : "eq")
                .toList();
        return all ? numbered(inputs, tests) : counted(inputs, tests);
    }

    /** With ALL: equal rows are told apart by their number, which makes sets of multisets. */
    private static PlanNode numbered(List<PlanNode> inputs, List<String> tests) {
        int width = inputs.get(0).schema().size();
        List<Integer> columns = IntStream.range(0, width).boxed().toList();
        List<PlanNode> numbered = inputs.stream().map(SetOperations::numbered).toList();
        return Nodes.select(counted(numbered, tests), columns);
    }

    /** Rows with their number among those that are equal, behind their columns. */
    private static PlanNode numbered(PlanNode input) {
        int width = input.schema().size();
        List<Expression> columns = new ArrayList<>(Nodes.columns(input));
        List<Integer> keys = new ArrayList<>();
        for (int column = 0; column < width; column++) {
            Expression key = IntervalKeys.canonical(columns.get(column));
            keys.add(key == columns.get(column) ? column : columns.size());
            if (key != columns.get(column)) {
                columns.add(key);
            }
        }
        boolean asIs = columns.size() == width;
        PlanNode ranked = Nodes.topN(
                asIs ? input : Nodes.project(input, columns),
                keys,
                List.of(),
                PlanNode.Rank.ROW_NUMBER,
                OverTranslation.NO_LIMIT,
                0,
                true,
                OptionalInt.empty());
        List<Integer> shown = new ArrayList<>(IntStream.range(0, width).boxed().toList());
        shown.add(columns.size());
        return Nodes.select(ranked, shown);
    }

    /** The distinct rows whose count in input {@code i} is {@code tests(i)} zero. */
    private static PlanNode counted(List<PlanNode> inputs, List<String> tests) {
        int width = inputs.get(0).schema().size();
        List<PlanNode> tagged = new ArrayList<>();
        List<AggregateCall> counts = new ArrayList<>();
        List<Expression> conditions = new ArrayList<>();
        for (int i = 0; i < inputs.size(); i++) {
            List<Expression> columns = new ArrayList<>(Nodes.columns(inputs.get(i)));
            for (int tag = 0; tag < inputs.size(); tag++) {
                columns.add(Expressions.literal(tag == i));
            }
            tagged.add(Nodes.project(inputs.get(i), columns));
            counts.add(new AggregateCall(
                    Function.COUNT,
                    List.of(),
                    false,
                    OptionalInt.of(width + i),
                    List.of(),
                    List.of(),
                    DataType.BIGINT));
            Expression count = new Expression.Column(width + i, DataType.BIGINT, false);
            conditions.add(Expressions.test(tests.get(i), count, Expressions.literal(0L)));
        }
        List<Integer> keys = IntStream.range(0, width).boxed().toList();
        PlanNode grouped = IntervalKeys.aggregate(Nodes.union(tagged), keys, counts);
        return Nodes.calc(
                grouped, Expressions.and(conditions), Nodes.columns(grouped).subList(0, width));
    }
}
