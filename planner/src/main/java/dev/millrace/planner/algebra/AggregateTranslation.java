package dev.millrace.planner.algebra;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.sql.algebra.AggregateTranslator;
import dev.millrace.sql.algebra.Aggregates;
import dev.millrace.sql.algebra.ExpressionTranslator;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.UnaryOperator;
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
    private final UnaryOperator<Expression> folder;
    private final List<Integer> keys;

    AggregateTranslation(Aggregate aggregate, PlanNode input, UnaryOperator<Expression> folder) {
        this.aggregate = aggregate;
        this.input = input;
        this.folder = folder;
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
                                    position,
                                    type,
                                    type.kind() == DataType.Kind.INTERVAL
                                            || input.schema().field(key).nullable()));
        }
        for (org.apache.calcite.rel.core.AggregateCall call : aggregate.getAggCallList()) {
            if (GROUPING.contains(call.getAggregation().getKind())) {
                projections.add(grouping(call, set));
                continue;
            }
            projections.add(
                    switch (call.getAggregation().getKind()) {
                        case LITERAL_AGG -> ExpressionTranslator.translate(call.rexList.get(0));
                        case SINGLE_VALUE -> single(call, set.size(), calls);
                        default ->
                            column(
                                    normalised(AggregateTranslator.translate(call, aggregate.getInput(), folder)),
                                    set.size(),
                                    calls);
                    });
        }
        PlanNode grouped = IntervalKeys.aggregate(input, set, calls);
        return projections.equals(Nodes.columns(grouped)) ? grouped : Nodes.project(grouped, projections);
    }

    /** The result of a call, which is added if it is new. */
    private static Expression column(AggregateCall call, int keys, List<AggregateCall> calls) {
        int position = calls.indexOf(call);
        if (position < 0) {
            position = calls.size();
            calls.add(call);
        }
        return new Expression.Column(keys + position, call.type(), call.nullable());
    }

    /** A scalar sub-query's value: of one row that row's, of none NULL, of several an error. */
    private static Expression single(
            org.apache.calcite.rel.core.AggregateCall call, int keys, List<AggregateCall> calls) {
        DataType type = TypeMapper.dataType(call.getType());
        Expression value = column(plain(Aggregates.ofSingleRow(type), call.getArgList(), type), keys, calls);
        Expression count = column(plain(Function.COUNT, List.of(), DataType.BIGINT), keys, calls);
        Expression single = new Expression.Call("at_most_one_row", List.of(count), DataType.BOOLEAN, false);
        return new Expression.Case(List.of(new Expression.Case.Branch(single, value)), new Null(type), type, true);
    }

    private static AggregateCall plain(Function function, List<Integer> arguments, DataType type) {
        return new AggregateCall(function, arguments, false, OptionalInt.empty(), List.of(), List.of(), type);
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
