package dev.millrace.sql.bind.expression;

import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.fun.SqlBetweenOperator;
import org.apache.calcite.sql.fun.SqlQuantifyOperator;

/** Binds comparisons of values and rows: with one another, with a range, with the items of a list, array or query. */
final class ComparisonBinder {
    private final QueryContext context;
    private final ExpressionBinder expressions;

    ComparisonBinder(QueryContext context, ExpressionBinder expressions) {
        this.context = context;
        this.expressions = expressions;
    }

    /** A comparison, also of rows. */
    RexNode compare(String name, SqlCall call) {
        SqlNode left = call.operand(0);
        SqlNode right = call.operand(1);
        if (left.getKind() == SqlKind.ROW && right.getKind() == SqlKind.ROW) {
            return compareRows(name, (SqlCall) left, (SqlCall) right, call);
        }
        boolean ofQuery = left.getKind() == SqlKind.ROW && right.isA(SqlKind.QUERY)
                || right.getKind() == SqlKind.ROW && left.isA(SqlKind.QUERY);
        if (ofQuery) {
            int columns = ((SqlCall) (left.getKind() == SqlKind.ROW ? left : right)).operandCount();
            return compareRows(name, row(left, columns), row(right, columns), call);
        }
        return context.functions().operator(name, expressions.bindAll(call.getOperandList()), call);
    }

    /** The values of a row, or of the one row of a sub-query. */
    private List<RexNode> row(SqlNode node, int columns) {
        return node.getKind() == SqlKind.ROW
                ? fields((SqlCall) node)
                : new SubQueryBinder(context, expressions).row(node, columns);
    }

    List<RexNode> fields(SqlCall row) {
        return new NestedBinder(context, expressions).fields(row);
    }

    private RexNode compareRows(String name, SqlCall left, SqlCall right, SqlNode where) {
        List<RexNode> lefts = fields(left);
        List<RexNode> rights = fields(right);
        if (lefts.size() != rights.size()) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "unequal number of entries in row expressions", where);
        }
        return compareRows(name, lefts, rights, where);
    }

    RexNode compareRows(String name, List<RexNode> lefts, List<RexNode> rights, SqlNode where) {
        switch (name) {
            case "eq", "ne", "is_distinct_from", "is_not_distinct_from" -> {
                List<RexNode> parts = new ArrayList<>();
                for (int i = 0; i < lefts.size(); i++) {
                    parts.add(one(name, lefts.get(i), rights.get(i), where));
                }
                boolean all = name.equals("eq") || name.equals("is_not_distinct_from");
                return Rex.combine(all ? "and" : "or", parts);
            }
            default -> {
                return ordered(name, lefts, rights, where);
            }
        }
    }

    /** The first fields that differ decide: {@code a < x OR a = x AND b < y}. */
    private RexNode ordered(String name, List<RexNode> lefts, List<RexNode> rights, SqlNode where) {
        int last = lefts.size() - 1;
        RexNode result = one(name, lefts.get(last), rights.get(last), where);
        String strict = name.equals("le") ? "lt" : name.equals("ge") ? "gt" : name;
        for (int i = last - 1; i >= 0; i--) {
            RexNode equal = one("eq", lefts.get(i), rights.get(i), where);
            RexNode further = Rex.combine("and", List.of(equal, result));
            result = Rex.combine("or", List.of(one(strict, lefts.get(i), rights.get(i), where), further));
        }
        return result;
    }

    private RexNode one(String name, RexNode left, RexNode right, SqlNode where) {
        return context.functions().operator(name, List.of(left, right), where);
    }

    RexNode between(SqlCall call) {
        SqlBetweenOperator operator = (SqlBetweenOperator) call.getOperator();
        RexNode value = expressions.bind(call.operand(0));
        RexNode low = expressions.bind(call.operand(1));
        RexNode high = expressions.bind(call.operand(2));
        RexNode inside = inRange(value, low, high, call);
        if (operator.flag == SqlBetweenOperator.Flag.SYMMETRIC) {
            inside = Rex.combine("or", List.of(inside, inRange(value, high, low, call)));
        }
        return operator.isNegated() ? Rex.not(inside) : inside;
    }

    private RexNode inRange(RexNode value, RexNode low, RexNode high, SqlNode where) {
        return Rex.combine(
                "and",
                List.of(
                        context.functions().operator("ge", List.of(value, low), where),
                        context.functions().operator("le", List.of(value, high), where)));
    }

    RexNode in(SqlCall call) {
        SqlNode right = call.operand(1);
        if (!(right instanceof SqlNodeList list)) {
            return new SubQueryBinder(context, expressions).in(call.operand(0), right, call);
        }
        SqlNode left = call.operand(0);
        if (left.getKind() == SqlKind.ROW) {
            List<RexNode> alternatives = new ArrayList<>();
            for (SqlNode item : list) {
                if (item.getKind() != SqlKind.ROW) {
                    throw Errors.error(SqlState.SYNTAX_ERROR, "unequal number of entries in row expressions", item);
                }
                alternatives.add(compareRows("eq", (SqlCall) left, (SqlCall) item, item));
            }
            return Rex.combine("or", alternatives);
        }
        return equalsAny(expressions.bind(left), expressions.bindAll(list.getList()), call);
    }

    private RexNode equalsAny(RexNode value, List<RexNode> items, SqlNode where) {
        List<RexNode> alternatives = new ArrayList<>(items.size());
        for (RexNode item : items) {
            alternatives.add(context.functions().operator("eq", List.of(value, item), where));
        }
        return Rex.combine("or", alternatives);
    }

    /** {@code x = ANY (...)} of a query or an array constant. */
    RexNode quantified(SqlCall call) {
        SqlNode right = call.operand(1);
        if (right.isA(SqlKind.QUERY)) {
            return new SubQueryBinder(context, expressions).quantified(call);
        }
        SqlNode array = right instanceof SqlNodeList list && list.size() == 1 ? list.get(0) : right;
        RexNode value = expressions.bind(call.operand(0));
        RexNode items = expressions.bind(array);
        if (Coercions.isUnknown(items)) {
            DataType element = Coercions.isUnknown(value) ? DataType.TEXT : Coercions.ofElements(value, items);
            items = context.coercions().convert(items, DataType.array(element), Strength.IMPLICIT, array);
        }
        if (items.isA(SqlKind.ARRAY_VALUE_CONSTRUCTOR)) {
            boolean some = call.getKind() == SqlKind.SOME;
            String name = comparison(((SqlQuantifyOperator) call.getOperator()).comparisonKind);
            List<RexNode> parts = new ArrayList<>();
            for (RexNode item : ((RexCall) items).getOperands()) {
                parts.add(context.functions().operator(name, List.of(value, item), call));
            }
            return parts.isEmpty()
                    ? Rex.literal(new Literal(!some, DataType.BOOLEAN))
                    : Rex.combine(some ? "or" : "and", parts);
        }
        String name = comparison(((SqlQuantifyOperator) call.getOperator()).comparisonKind);
        boolean some = call.getKind() == SqlKind.SOME;
        return new NestedBinder(context, expressions).quantified(name, some, value, items, call);
    }

    /** {@code text LIKE ANY (array)}, also in its other forms: as so many LIKEs. */
    RexNode like(String symbol, SqlCall call) {
        boolean negated = symbol.startsWith("not ");
        String operator = symbol.contains("ilike") ? "ilike" : "like";
        boolean any = symbol.endsWith(" any");
        SqlNode right = call.operand(1);
        RexNode value = expressions.bind(call.operand(0));
        List<RexNode> patterns;
        if (right.getKind() == SqlKind.ROW) {
            patterns = expressions.bindAll(((SqlCall) right).getOperandList());
        } else {
            RexNode array = right.isA(SqlKind.QUERY)
                    ? Rex.nullOf(DataType.NULL)
                    : context.coercions()
                            .convert(expressions.bind(right), DataType.array(DataType.TEXT), Strength.IMPLICIT, right);
            if (!array.isA(SqlKind.ARRAY_VALUE_CONSTRUCTOR)) {
                throw Errors.notAvailableYet("LIKE ANY over what is no constant array", right)
                        .withHint("EXISTS (SELECT 1 FROM unnest(patterns) AS p WHERE text LIKE p)");
            }
            patterns = ((RexCall) array).getOperands();
        }
        List<RexNode> parts = new ArrayList<>();
        for (RexNode pattern : patterns) {
            RexNode match = context.functions().operator(operator, List.of(value, pattern), call);
            parts.add(negated ? Rex.not(match) : match);
        }
        return parts.isEmpty()
                ? Rex.literal(new Literal(!any, DataType.BOOLEAN))
                : Rex.combine(any ? "or" : "and", parts);
    }

    /** The canonical name of a comparison. */
    static String comparison(SqlKind kind) {
        return switch (kind) {
            case EQUALS -> "eq";
            case NOT_EQUALS -> "ne";
            case LESS_THAN -> "lt";
            case LESS_THAN_OR_EQUAL -> "le";
            case GREATER_THAN -> "gt";
            case GREATER_THAN_OR_EQUAL -> "ge";
            default -> throw new IllegalArgumentException("no comparison: " + kind);
        };
    }
}
