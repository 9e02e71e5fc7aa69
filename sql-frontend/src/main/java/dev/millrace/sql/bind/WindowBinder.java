package dev.millrace.sql.bind;

import com.google.common.collect.ImmutableList;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.sql.algebra.Aggregates;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.AggregateCalls.Call;
import dev.millrace.sql.bind.AggregateCalls.SortKey;
import dev.millrace.sql.bind.FunctionBinder.AggregateSyntax;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rex.RexFieldCollation;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexWindowBound;
import org.apache.calcite.rex.RexWindowBounds;
import org.apache.calcite.sql.SqlAggFunction;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlWindow;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/** Binds {@code f(...) OVER (...)} to a {@code RexOver}. */
final class WindowBinder {
    private static final Map<String, SqlAggFunction> RANKING = Map.of(
            "row_number", SqlStdOperatorTable.ROW_NUMBER,
            "rank", SqlStdOperatorTable.RANK,
            "dense_rank", SqlStdOperatorTable.DENSE_RANK,
            "percent_rank", SqlStdOperatorTable.PERCENT_RANK,
            "cume_dist", SqlStdOperatorTable.CUME_DIST,
            "ntile", SqlStdOperatorTable.NTILE,
            "lag", SqlStdOperatorTable.LAG,
            "lead", SqlStdOperatorTable.LEAD,
            "nth_value", SqlStdOperatorTable.NTH_VALUE);

    private final QueryContext context;
    private final ExpressionBinder expressions;
    private final Clause clause;

    WindowBinder(QueryContext context, ExpressionBinder expressions, Clause clause) {
        this.context = context;
        this.expressions = expressions;
        this.clause = clause;
    }

    /** Whether a function exists with OVER only. */
    static boolean isRanking(String name) {
        return RANKING.containsKey(name);
    }

    RexNode over(SqlCall call) {
        if (!clause.windows()) {
            throw Errors.error(SqlState.WINDOWING_ERROR, "window functions are not allowed in " + clause.name(), call);
        }
        AggregateSyntax syntax = AggregateSyntax.of(call.operand(0));
        SqlWindow window = specification(call.operand(1));
        // Inside, aggregates of a grouped query are allowed, further window functions are not.
        ExpressionBinder inner =
                expressions.within(new Clause("a window function", clause.aggregates(), false, clause.columns()));
        List<RexNode> partition = new ArrayList<>();
        for (SqlNode key : window.getPartitionList()) {
            partition.add(context.coercions().decided(inner.bind(key)));
        }
        List<SortKey> ordering =
                AggregateBinder.sortKeys(inner, window.getOrderList().getList());
        ImmutableList.Builder<RexFieldCollation> collations = ImmutableList.builder();
        for (SortKey key : ordering) {
            collations.add(collation(key));
        }
        Called called = called(syntax, inner, call);
        boolean wholePartition = ordering.isEmpty() && window.getLowerBound() == null;
        boolean ranking = RANKING.containsKey(syntax.name());
        RexWindowBound lower = ranking || window.getLowerBound() == null
                ? RexWindowBounds.UNBOUNDED_PRECEDING
                : bound(window.getLowerBound(), inner);
        RexWindowBound upper = ranking
                ? RexWindowBounds.CURRENT_ROW
                : wholePartition
                        ? RexWindowBounds.UNBOUNDED_FOLLOWING
                        : window.getUpperBound() == null
                                ? RexWindowBounds.CURRENT_ROW
                                : bound(window.getUpperBound(), inner);
        return Rex.builder()
                .makeOver(
                        TypeMapper.relType(called.type, called.nullable),
                        called.function,
                        called.arguments,
                        partition,
                        collations.build(),
                        lower,
                        upper,
                        ranking || window.isRows(),
                        true,
                        false,
                        syntax.distinct(),
                        false);
    }

    private record Called(SqlAggFunction function, List<RexNode> arguments, DataType type, boolean nullable) {}

    private Called called(AggregateSyntax syntax, ExpressionBinder inner, SqlCall where) {
        if (syntax.filter().isPresent()) {
            throw Errors.notAvailableYet("FILTER with OVER", where);
        }
        SqlAggFunction ranking = RANKING.get(syntax.name());
        if (ranking != null) {
            List<RexNode> arguments = inner.bindAll(syntax.arguments());
            List<RexNode> decided =
                    arguments.stream().map(context.coercions()::decided).toList();
            return switch (syntax.name()) {
                case "row_number", "rank", "dense_rank" -> {
                    if (!decided.isEmpty()) {
                        throw FunctionResolver.doesNotExist(syntax.name(), arguments, where);
                    }
                    yield new Called(ranking, List.of(), DataType.BIGINT, false);
                }
                case "percent_rank", "cume_dist" -> new Called(ranking, List.of(), DataType.DOUBLE, false);
                case "ntile" -> new Called(ranking, decided, DataType.INTEGER, false);
                default -> {
                    if (decided.isEmpty()) {
                        throw FunctionResolver.doesNotExist(syntax.name(), arguments, where);
                    }
                    yield new Called(ranking, decided, Coercions.type(decided.get(0)), true);
                }
            };
        }
        Optional<Function> function = Aggregates.byName(syntax.name());
        if (function.isEmpty()) {
            throw Errors.error(
                    SqlState.WRONG_OBJECT_TYPE,
                    "OVER specified, but " + syntax.name() + " is not a window function nor an aggregate function",
                    where);
        }
        Call call = new AggregateBinder(context, inner).bind(function.get(), syntax, where);
        if (function.get() == Function.PERCENTILE_CONT || function.get() == Function.PERCENTILE_DISC) {
            throw Errors.error(
                    SqlState.WRONG_OBJECT_TYPE,
                    "OVER is not supported for ordered-set aggregate " + syntax.name(),
                    where);
        }
        return new Called(Aggregates.calcite(function.get()), call.arguments(), call.type(), call.nullable());
    }

    private SqlWindow specification(SqlNode node) {
        if (node instanceof SqlIdentifier name) {
            return clauseWindow(name);
        }
        SqlWindow window = (SqlWindow) node;
        if (window.getRefName() == null) {
            return window;
        }
        SqlWindow base = clauseWindow(window.getRefName());
        return new SqlWindow(
                window.getParserPosition(),
                null,
                null,
                base.getPartitionList(),
                window.getOrderList().isEmpty() ? base.getOrderList() : window.getOrderList(),
                SqlLiteral.createBoolean(window.isRows(), window.getParserPosition()),
                window.getLowerBound(),
                window.getUpperBound(),
                null);
    }

    private SqlWindow clauseWindow(SqlIdentifier name) {
        return clause.namedWindows().stream()
                .filter(window -> window.getDeclName().getSimple().equals(name.getSimple()))
                .findFirst()
                .orElseThrow(() -> Errors.error(
                        SqlState.UNDEFINED_OBJECT, "window \"" + name.getSimple() + "\" does not exist", name));
    }

    private static RexFieldCollation collation(SortKey key) {
        Set<SqlKind> directions = EnumSet.noneOf(SqlKind.class);
        if (key.descending()) {
            directions.add(SqlKind.DESCENDING);
        }
        directions.add(key.nullsFirst() ? SqlKind.NULLS_FIRST : SqlKind.NULLS_LAST);
        return new RexFieldCollation(key.value(), directions);
    }

    private RexWindowBound bound(SqlNode node, ExpressionBinder inner) {
        if (SqlWindow.isCurrentRow(node)) {
            return RexWindowBounds.CURRENT_ROW;
        }
        if (SqlWindow.isUnboundedPreceding(node)) {
            return RexWindowBounds.UNBOUNDED_PRECEDING;
        }
        if (SqlWindow.isUnboundedFollowing(node)) {
            return RexWindowBounds.UNBOUNDED_FOLLOWING;
        }
        RexNode offset = inner.bind(((SqlCall) node).operand(0));
        return node.getKind() == SqlKind.PRECEDING
                ? RexWindowBounds.preceding(offset)
                : RexWindowBounds.following(offset);
    }
}
