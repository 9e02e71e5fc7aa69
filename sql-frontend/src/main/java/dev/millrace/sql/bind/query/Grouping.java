package dev.millrace.sql.bind.query;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.sql.algebra.Aggregates;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.expression.Guarded;
import dev.millrace.sql.bind.expression.SetFunctions;
import dev.millrace.sql.bind.relation.Correlations;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.AggregateCalls;
import dev.millrace.sql.bind.scope.AggregateCalls.Call;
import dev.millrace.sql.bind.scope.AggregateCalls.SortKey;
import dev.millrace.sql.bind.scope.ComparableQueries;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.calcite.rel.RelCollation;
import org.apache.calcite.rel.RelCollations;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelFieldCollation.Direction;
import org.apache.calcite.rel.RelFieldCollation.NullDirection;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * The aggregation of a SELECT: a project that computes keys and arguments, the aggregate, and the rewriting of
 * expressions over the rows of FROM to expressions over groups.
 */
final class Grouping {
    private final QueryContext context;
    private final RelNode input;
    private final Scope scope;
    private final Groups groups;
    private final List<Call> calls;
    private final Optional<SqlNode> readingGroup;
    private final Map<Integer, SqlIdentifier> columnsSeen;
    private final List<RexNode> projected;

    @SuppressWarnings("NullAway.Init") // by aggregate, which is called first
    private RelNode result;

    private Optional<CorrelationId> correlation = Optional.empty();

    /** @param columnsSeen the first place in the text of each column, for messages */
    Grouping(
            QueryContext context,
            RelNode input,
            Scope scope,
            Groups groups,
            AggregateCalls calls,
            Map<Integer, SqlIdentifier> columnsSeen) {
        this.context = context;
        this.input = input;
        this.scope = scope;
        this.groups = groups;
        this.calls = calls.calls();
        this.readingGroup = calls.readingGroup();
        this.columnsSeen = columnsSeen;
        this.projected = new ArrayList<>(groups.keys());
    }

    RelNode aggregate() {
        if (groups.sets().size() > 1) {
            rejectArgumentsOfGroups();
        }
        List<AggregateCall> calciteCalls = new ArrayList<>();
        for (Call call : calls) {
            calciteCalls.add(calciteCall(call));
        }
        if (projected.isEmpty()) {
            // An aggregate reads some column, if only to count rows.
            projected.add(Rex.builder().makeLiteral(true));
        }
        List<String> names = new ArrayList<>();
        for (RexNode expression : projected) {
            names.add(
                    expression instanceof RexInputRef reference
                            ? input.getRowType().getFieldNames().get(reference.getIndex())
                            : "expression");
        }
        scope.groupCorrelation()
                .ifPresent(id ->
                        projected.replaceAll(expression -> Correlations.replace(expression, id, scope::correlated)));
        RelNode project = SetFunctions.project(input, projected, names, scope.correlation());
        result = RelNodes.aggregate(project, groups.keys().size(), groups.sets(), calciteCalls);
        return result;
    }

    private void rejectArgumentsOfGroups() {
        readingGroup.ifPresent(where -> {
            throw Errors.notAvailableYet(
                            "an argument before WITHIN GROUP that is no constant, with grouping sets", where)
                    .withHint("UNION ALL of a query for each set");
        });
    }

    private AggregateCall calciteCall(Call call) {
        if (call.grouping().isPresent()) {
            return grouping(call, call.grouping().get());
        }
        List<Integer> arguments = call.arguments().stream()
                .map(argument -> column(Guarded.by(call.filter(), argument)))
                .toList();
        int filter = call.filter().map(this::truth).map(this::column).orElse(-1);
        List<RelFieldCollation> keys = new ArrayList<>();
        for (SortKey key : call.ordering()) {
            keys.add(new RelFieldCollation(
                    column(Guarded.by(call.filter(), context.coercions().decided(key.value()))),
                    key.descending() ? Direction.DESCENDING : Direction.ASCENDING,
                    key.nullsFirst() ? NullDirection.FIRST : NullDirection.LAST));
        }
        RelCollation collation = RelCollations.of(keys);
        return AggregateCall.create(
                SqlParserPos.ZERO,
                Aggregates.calcite(call.function()),
                call.distinct(),
                call.function() == Function.APPROX_COUNT_DISTINCT,
                false,
                List.of(),
                arguments,
                filter,
                null,
                collation,
                TypeMapper.relType(call.type(), call.nullable()),
                null);
    }

    private AggregateCall grouping(Call call, SqlNode where) {
        List<Integer> places = call.arguments().stream()
                .map(context.coercions()::decided)
                .map(key -> ComparableQueries.indexOf(groups.keys(), key))
                .toList();
        if (places.contains(-1)) {
            throw Errors.error(
                    SqlState.GROUPING_ERROR,
                    "arguments to GROUPING must be grouping expressions of the associated query level",
                    where);
        }
        return AggregateCall.create(
                SqlParserPos.ZERO,
                Aggregates.GROUPING,
                false,
                false,
                false,
                List.of(),
                places,
                -1,
                null,
                RelCollations.EMPTY,
                TypeMapper.relType(call.type(), false),
                null);
    }

    /** The place of an expression in the project. */
    private int column(RexNode expression) {
        int place = projected.indexOf(expression);
        if (place < 0) {
            place = projected.size();
            projected.add(expression);
        }
        return place;
    }

    /** Calcite wants filters that are never NULL. */
    private RexNode truth(RexNode condition) {
        return condition.getType().isNullable()
                ? Rex.call("is_true", List.of(condition), DataType.BOOLEAN, false)
                : condition;
    }

    /** The variable through which sub-queries of rewritten expressions refer to their group, if one does. */
    Optional<CorrelationId> correlation() {
        return correlation;
    }

    /** A column of the rows that were grouped, for a sub-query: it must be a key. Those behind them are the calls. */
    private RexNode ofGroup(int column) {
        if (correlation.isEmpty()) {
            correlation = Optional.of(context.cluster().createCorrel());
        }
        RexNode group = Rex.builder().makeCorrel(result.getRowType(), correlation.get());
        int call = column - input.getRowType().getFieldCount();
        if (call >= 0) {
            return Rex.builder().makeFieldAccess(group, groups.keys().size() + call);
        }
        RexNode reference = new RexInputRef(
                column, input.getRowType().getFieldList().get(column).getType());
        int place = groups.keys().indexOf(reference);
        if (place < 0) {
            throw MillraceException.user(
                    SqlState.GROUPING_ERROR,
                    "subquery uses ungrouped column \"" + scope.nameOf(column) + "\" from outer query");
        }
        return Rex.builder().makeFieldAccess(group, place);
    }

    /**
     * The same of a whole output column, which may be a constant that is grouped by: NULL where a set lacks it.
     *
     * @param place of the column in SELECT, -1 of a value that is none
     */
    RexNode rewriteColumn(int place, RexNode expression) {
        if (groups.outputs().containsKey(place)) {
            return output(groups.outputs().get(place));
        }
        return expression instanceof RexLiteral && groups.sets().size() > 1
                ? key(expression).orElse(expression)
                : rewrite(expression);
    }

    /** An expression over the rows of FROM and the calls, as one over groups; 42803 where it reads a single row. */
    RexNode rewrite(RexNode expression) {
        return expression.accept(new RexShuttle() {
            @Override
            public RexNode visitCall(RexCall call) {
                return key(call).orElseGet(() -> super.visitCall(call));
            }

            @Override
            public RexNode visitInputRef(RexInputRef reference) {
                return key(reference).orElseGet(() -> call(reference));
            }

            @Override
            public RexNode visitFieldAccess(RexFieldAccess access) {
                // an outer row's column is NULL, too, in a set that it is not in
                return key(access).orElseGet(() -> super.visitFieldAccess(access));
            }

            @Override
            public RexNode visitSubQuery(RexSubQuery query) {
                Optional<RexNode> key = key(query);
                if (key.isPresent()) {
                    return key.get();
                }
                RexSubQuery inner = (RexSubQuery) super.visitSubQuery(query);
                return scope.groupCorrelation()
                        .map(id -> inner.clone(Correlations.replace(inner.rel, id, Grouping.this::ofGroup)))
                        .orElse(inner);
            }
        });
    }

    private Optional<RexNode> key(RexNode expression) {
        int place = ComparableQueries.indexOf(groups.keys(), expression);
        return place < 0 ? Optional.empty() : Optional.of(output(place));
    }

    private RexNode call(RexInputRef reference) {
        int call = reference.getIndex() - input.getRowType().getFieldCount();
        if (call >= 0) {
            return output(groups.keys().size() + call);
        }
        String message = "column \"" + scope.nameOf(reference.getIndex())
                + "\" must appear in the GROUP BY clause or be used in an aggregate function";
        throw Errors.error(
                SqlState.GROUPING_ERROR, message, Objects.requireNonNull(columnsSeen.get(reference.getIndex())));
    }

    private RexNode output(int column) {
        return new RexInputRef(
                column, result.getRowType().getFieldList().get(column).getType());
    }
}
