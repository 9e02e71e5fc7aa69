package dev.millrace.sql.bind.expression;

import com.google.common.collect.ImmutableList;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.sql.algebra.Aggregates;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.subquery.RowMembership;
import dev.millrace.sql.bind.subquery.SubQueries;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rel.RelCollation;
import org.apache.calcite.rel.RelCollations;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.core.Values;
import org.apache.calcite.rel.logical.LogicalAggregate;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.fun.SqlQuantifyOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.util.ImmutableBitSet;

/** Binds queries inside expressions to {@code RexSubQuery}s, which {@link SubQueries} then makes joins of. */
final class SubQueryBinder {
    private final QueryContext context;
    private final ExpressionBinder expressions;

    SubQueryBinder(QueryContext context, ExpressionBinder expressions) {
        this.context = context;
        this.expressions = expressions;
    }

    /** {@code (SELECT ...)} as a value. */
    RexNode scalar(SqlNode query) {
        RelNode rel = bind(query);
        requireColumns(rel, 1, query);
        // (SELECT (SELECT ..)) is the inner one
        return rel instanceof Project project
                        && project.getInput() instanceof Values values
                        && values.getTuples().size() == 1
                        && project.getProjects().get(0) instanceof RexSubQuery inner
                ? inner
                : RexSubQuery.scalar(rel);
    }

    /** {@code (SELECT a, b ...)} as the values of its one row. */
    List<RexNode> row(SqlNode query, int columns) {
        RelNode rel = bind(query);
        DataType first =
                TypeMapper.dataType(rel.getRowType().getFieldList().get(0).getType());
        if (rel.getRowType().getFieldCount() == 1 && first.kind() == DataType.Kind.ROW) {
            RexNode row = RexSubQuery.scalar(rel);
            NestedBinder nested = new NestedBinder(context, expressions);
            return first.fields().stream()
                    .map(field -> nested.field(row, field.name(), query))
                    .toList();
        }
        requireColumns(rel, columns, query);
        List<RexNode> values = new ArrayList<>();
        for (int i = 0; i < columns; i++) {
            String name = rel.getRowType().getFieldNames().get(i);
            values.add(RexSubQuery.scalar(
                    RelNodes.project(rel, List.of(RelNodes.references(rel).get(i)), List.of(name))));
        }
        return values;
    }

    /** {@code ARRAY(SELECT ...)}: the values of its one column, in its order; no rows are an empty array. */
    RexNode array(SqlNode query, SqlNode where) {
        RelNode rel = bind(query);
        requireColumns(rel, 1, query);
        RelCollation order = RelCollations.EMPTY;
        if (rel instanceof Project project
                && project.getVariablesSet().isEmpty()
                && project.getInput() instanceof Sort sort
                && isUnlimited(sort)) {
            List<RexNode> columns = new ArrayList<>(project.getProjects());
            List<String> names = new ArrayList<>(project.getRowType().getFieldNames());
            List<RelFieldCollation> keys = new ArrayList<>();
            for (RelFieldCollation key : sort.getCollation().getFieldCollations()) { // columns of the order, not shown
                keys.add(key.withFieldIndex(columns.size()));
                columns.add(RelNodes.references(sort.getInput()).get(key.getFieldIndex()));
                names.add("key " + keys.size());
            }
            order = RelCollations.of(keys);
            rel = RelNodes.project(sort.getInput(), columns, names);
        } else if (rel instanceof Sort sort && isUnlimited(sort)) {
            order = sort.getCollation();
            rel = sort.getInput();
        }
        DataType type = DataType.array(
                TypeMapper.dataType(rel.getRowType().getFieldList().get(0).getType()));
        AggregateCall collect = AggregateCall.create(
                Aggregates.calcite(Function.ARRAY_AGG),
                false,
                false,
                false,
                List.of(),
                List.of(0),
                -1,
                null,
                order,
                TypeMapper.relType(type, true),
                "array");
        RelNode collected = LogicalAggregate.create(rel, List.of(), ImmutableBitSet.of(), null, List.of(collect));
        RexNode empty = context.coercions().convert(Rex.unknown("{}"), type, Strength.EXPLICIT, where);
        return context.functions().function("coalesce", "array", List.of(RexSubQuery.scalar(collected), empty), where);
    }

    private static boolean isUnlimited(Sort sort) {
        return sort.fetch == null && sort.offset == null;
    }

    RexNode exists(SqlNode query) {
        return RexSubQuery.exists(bind(query));
    }

    /** {@code x IN (SELECT ...)} or {@code (x, y) IN (SELECT ...)}. */
    RexNode in(SqlNode left, SqlNode query, SqlNode where) {
        RelNode rel = bind(query);
        List<RexNode> values = left.getKind() == SqlKind.ROW
                ? expressions.bindAll(((SqlCall) left).getOperandList())
                : List.of(expressions.bind(left));
        requireColumns(rel, values.size(), query);
        Converted converted = convert(values, rel, where);
        return RexSubQuery.in(converted.query, ImmutableList.copyOf(converted.values));
    }

    /** {@code x = ANY (SELECT ...)} and the like. */
    RexNode quantified(SqlCall call) {
        if (call.operand(0).getKind() == SqlKind.ROW) {
            return quantifiedRow(call);
        }
        RelNode rel = bind(call.operand(1));
        requireColumns(rel, 1, call.operand(1));
        Converted converted = convert(List.of(expressions.bind(call.operand(0))), rel, call);
        SqlKind comparison = ((SqlQuantifyOperator) call.getOperator()).comparisonKind;
        return call.getKind() == SqlKind.SOME
                ? any(converted, comparison)
                : Rex.not(any(converted, comparison.negateNullSafe())); // all, unless one is not
    }

    /** {@code (x, y) < ANY (SELECT ...)} and the like. */
    private RexNode quantifiedRow(SqlCall call) {
        SqlKind comparison = ((SqlQuantifyOperator) call.getOperator()).comparisonKind;
        boolean some = call.getKind() == SqlKind.SOME;
        SqlKind ofOne = some ? comparison : comparison.negateNullSafe(); // all, unless one is not
        RexNode any;
        if (ofOne == SqlKind.EQUALS) {
            any = in(call.operand(0), call.operand(1), call);
        } else {
            RelNode rel = bind(call.operand(1));
            // The row as seen from within the sub-query, which compares it with its own.
            Scope within = Scope.empty(Optional.of(expressions.scope()), context);
            List<RexNode> values = new ComparisonBinder(
                            context, new ExpressionBinder(context, within, Clause.plain("ANY")))
                    .fields((SqlCall) call.operand(0));
            requireColumns(rel, values.size(), call.operand(1));
            RexNode compared = new ComparisonBinder(context, expressions)
                    .compareRows(ComparisonBinder.comparison(ofOne), values, RelNodes.references(rel), call);
            any = RowMembership.any(rel, compared);
        }
        return some ? any : Rex.not(any);
    }

    /** Whether one row compares so. Other than one is less or greater than one: random queries found Calcite's own form wrong. */
    private static RexNode any(Converted converted, SqlKind comparison) {
        ImmutableList<RexNode> values = ImmutableList.copyOf(converted.values);
        return switch (comparison) {
            case EQUALS -> RexSubQuery.in(converted.query, values);
            case NOT_EQUALS ->
                Rex.combine("or", List.of(any(converted, SqlKind.LESS_THAN), any(converted, SqlKind.GREATER_THAN)));
            default -> RexSubQuery.some(converted.query, values, SqlStdOperatorTable.some(comparison));
        };
    }

    private RelNode bind(SqlNode query) {
        context.foundSubQuery();
        Scope around = expressions.scope();
        Optional<Clause> before = around.clause();
        around.setClause(Optional.of(expressions.clause()));
        try {
            return context.bindWithin(query, around).rel();
        } finally {
            around.setClause(before);
        }
    }

    private static void requireColumns(RelNode rel, int columns, SqlNode where) {
        int actual = rel.getRowType().getFieldCount();
        if (actual != columns) {
            throw Errors.error(
                    SqlState.SYNTAX_ERROR,
                    columns == 1
                            ? "subquery must return only one column"
                            : "subquery has too " + (actual < columns ? "few" : "many") + " columns",
                    where);
        }
    }

    private record Converted(List<RexNode> values, RelNode query) {}

    /** Both sides cast to their common types. */
    private Converted convert(List<RexNode> values, RelNode rel, SqlNode where) {
        List<RexNode> left = new ArrayList<>();
        List<RexNode> right = new ArrayList<>();
        boolean casts = false;
        for (int i = 0; i < values.size(); i++) {
            RelDataType type = rel.getRowType().getFieldList().get(i).getType();
            RexNode column = new RexInputRef(i, type);
            DataType common = Coercions.common(List.of(values.get(i), column)).orElse(DataType.NULL);
            if (common.equals(DataType.NULL)) {
                throw Errors.error(
                        SqlState.UNDEFINED_FUNCTION,
                        "operator does not exist: " + Coercions.name(Coercions.type(values.get(i))) + " = "
                                + Coercions.name(TypeMapper.dataType(type)),
                        where);
            }
            left.add(context.coercions().convert(values.get(i), common, Strength.IMPLICIT, where));
            RexNode converted = context.coercions().convert(column, common);
            casts |= converted != column;
            right.add(converted);
        }
        return new Converted(
                left, casts ? RelNodes.project(rel, right, rel.getRowType().getFieldNames()) : rel);
    }
}
