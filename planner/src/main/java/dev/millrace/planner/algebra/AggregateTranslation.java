package dev.millrace.planner.algebra;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.sql.algebra.AggregateTranslator;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.util.ImmutableBitSet;

/**
 * GROUP BY. Several grouping sets are a union of one aggregation each:
 *
 * <pre>
 * Aggregate({0,1}, {0}; sum)    becomes    Union
 *                                            Aggregate(0, 1; sum)
 *                                            Calc($0, NULL, $1)
 *                                              Aggregate(0; sum)
 * </pre>
 */
final class AggregateTranslation {
    private static final Set<SqlKind> GROUPING = Set.of(SqlKind.GROUPING, SqlKind.GROUPING_ID, SqlKind.GROUP_ID);
    private static final Set<Function> SAME_WHEN_DISTINCT =
            Set.of(Function.MIN, Function.MAX, Function.BOOL_AND, Function.BOOL_OR, Function.APPROX_COUNT_DISTINCT);

    private final Aggregate aggregate;
    private final PlanNode input;
    private final List<Integer> keys;

    AggregateTranslation(Aggregate aggregate, PlanNode input) {
        this.aggregate = aggregate;
        this.input = input;
        this.keys = aggregate.getGroupSet().asList();
    }

    PlanNode translate() {
        List<PlanNode> sets = new ArrayList<>();
        for (ImmutableBitSet set : aggregate.getGroupSets()) {
            sets.add(translate(set.asList()));
        }
        return sets.size() == 1 ? sets.get(0) : Nodes.union(sets);
    }

    private PlanNode translate(List<Integer> set) {
        List<AggregateCall> calls = new ArrayList<>();
        List<Expression> projections = new ArrayList<>();
        for (int key : keys) {
            int position = set.indexOf(key);
            DataType type = input.schema().type(key);
            projections.add(
                    position < 0
                            ? new Null(type)
                            : new Expression.Column(
                                    position, type, input.schema().field(key).nullable()));
        }
        for (org.apache.calcite.rel.core.AggregateCall call : aggregate.getAggCallList()) {
            if (GROUPING.contains(call.getAggregation().getKind())) {
                projections.add(grouping(call, set));
                continue;
            }
            AggregateCall translated = normalised(translated(call));
            int position = calls.indexOf(translated);
            if (position < 0) {
                position = calls.size();
                calls.add(translated);
            }
            projections.add(new Expression.Column(set.size() + position, translated.type(), translated.nullable()));
        }
        PlanNode grouped = Nodes.aggregate(input, set, calls, Phase.SINGLE, false);
        return projections.equals(Nodes.columns(grouped)) ? grouped : Nodes.project(grouped, projections);
    }

    private AggregateCall translated(org.apache.calcite.rel.core.AggregateCall call) {
        if (call.getAggregation().getKind() == SqlKind.SINGLE_VALUE) {
            throw Refusal.of(
                    "scalar sub-queries are not available yet", "join with the sub-query, or aggregate in it and join");
        }
        return AggregateTranslator.translate(call, aggregate.getInput());
    }

    /** One way to write what is the same: count of a column without NULLs is count(*), DISTINCT does not change min. */
    private AggregateCall normalised(AggregateCall call) {
        boolean neverNull = call.arguments().stream()
                .noneMatch(column -> input.schema().field(column).nullable());
        boolean countsRows = call.function() == Function.COUNT && !call.distinct() && neverNull;
        boolean distinct = call.distinct() && !SAME_WHEN_DISTINCT.contains(call.function());
        return new AggregateCall(
                call.function(),
                countsRows ? List.of() : call.arguments(),
                distinct,
                call.filter(),
                call.ordering(),
                call.parameters(),
                call.type());
    }

    /** GROUPING(a, b): a bit per argument, set when it is not grouped by. */
    private static Literal grouping(org.apache.calcite.rel.core.AggregateCall call, List<Integer> set) {
        long bits = 0;
        for (int column : call.getArgList()) {
            bits = bits << 1 | (set.contains(column) ? 0 : 1);
        }
        return new Literal(bits, TypeMapper.dataType(call.getType()));
    }
}
