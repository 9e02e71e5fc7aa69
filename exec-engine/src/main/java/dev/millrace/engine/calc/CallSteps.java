package dev.millrace.engine.calc;

import dev.millrace.expressions.user.UserCode;
import dev.millrace.expressions.user.UserPython;
import dev.millrace.operator.Operator;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Takes calls that are made for each row whatever its values out of the expressions of a Calc, the innermost first:
 *
 * <pre>
 *   Calc(x > 0; f(a + 1) * 2)   becomes   Calc(x > 0; all columns, a + 1), f over the last column, Calc(results * 2)
 * </pre>
 *
 * A call in a branch of a CASE, behind an AND and the like stays where it is, as it may not be made for other rows.
 */
final class CallSteps {
    /** Functions that have all of their arguments computed. */
    private static final Set<String> EAGER = Set.of(
            "add",
            "subtract",
            "multiply",
            "divide",
            "modulo",
            "negate",
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
            "not",
            "is_null",
            "is_not_null",
            "is_true",
            "is_not_true",
            "is_false",
            "is_not_false",
            "is_distinct_from",
            "is_not_distinct_from",
            "concat",
            "round",
            "abs",
            "lower",
            "upper",
            "length");

    /** Functions that have the first of their arguments computed, and others as it turns out. */
    private static final Set<String> LAZY = Set.of("and", "or", "coalesce", "nullif");

    private final PlanNode.Calc node;
    private final List<Operator> steps = new ArrayList<>();
    private Schema columns; // of the rows behind the last step
    private Optional<Expression> condition = Optional.empty(); // that the next step is to check

    private CallSteps(PlanNode.Calc node) {
        this.node = node;
        this.columns = node.input().schema();
    }

    static boolean isIn(PlanNode.Calc node) {
        Set<Call> calls = new LinkedHashSet<>();
        node.condition().ifPresent(expression -> collect(expression, calls));
        node.projections().forEach(expression -> collect(expression, calls));
        return !calls.isEmpty();
    }

    /** Operators that do together what the node says; each is of one thread, and not yet open. */
    static List<Operator> of(PlanNode.Calc node) {
        return new CallSteps(node).all();
    }

    private List<Operator> all() {
        if (node.condition().isPresent()) {
            List<Expression> left = withoutCalls(List.of(node.condition().get()));
            condition = Optional.of(left.get(0));
        }
        List<Expression> left = withoutCalls(node.projections());
        steps.add(calc(left, node.schema()));
        return steps;
    }

    /** The expressions over the columns of then; those of now stay where they are. */
    private List<Expression> withoutCalls(List<Expression> expressions) {
        List<Expression> left = expressions;
        while (true) {
            Set<Call> calls = new LinkedHashSet<>();
            left.forEach(expression -> collect(expression, calls));
            if (calls.isEmpty()) {
                return left;
            }
            call(new ArrayList<>(calls));
            int first = columns.size() - calls.size();
            List<Call> made = new ArrayList<>(calls);
            left = left.stream().map(each -> replaced(each, made, first)).toList();
        }
    }

    /** Adds a column for each call. */
    private void call(List<Call> calls) {
        List<Expression> computed = new ArrayList<>();
        List<Field> fields = new ArrayList<>(columns.fields());
        for (int i = 0; i < columns.size(); i++) {
            Field field = columns.field(i);
            computed.add(new Column(i, field.type(), field.nullable()));
        }
        int kept = fields.size();
        List<CallOperator.Made> made = new ArrayList<>();
        for (Call call : calls) {
            made.add(new CallOperator.Made(
                    call.function(), fields.size(), call.arguments().size()));
            for (Expression argument : call.arguments()) {
                computed.add(argument);
                fields.add(new Field("argument", argument.type(), true));
            }
        }
        Schema given = new Schema(fields);
        steps.add(calc(computed, given));
        List<Field> results = new ArrayList<>(fields.subList(0, kept));
        calls.forEach(call -> results.add(new Field("result", call.type(), true)));
        columns = new Schema(results);
        steps.add(new CallOperator(given, columns, kept, made));
    }

    private CalcOperator calc(List<Expression> projections, Schema schema) {
        PlanNode input = steps.isEmpty() ? node.input() : new PlanNode.Values(List.of(), columns);
        CalcOperator calc = new CalcOperator(new PlanNode.Calc(input, condition, projections, schema));
        condition = Optional.empty();
        return calc;
    }

    /** Calls that are made for every row, and in whose arguments there is none. */
    private static void collect(Expression expression, Set<Call> into) {
        if (expression instanceof Cast cast) {
            collect(cast.input(), into);
        } else if (expression instanceof Case branches) {
            collect(branches.branches().get(0).condition(), into);
        } else if (expression instanceof Call call) {
            if (isBatched(call)) {
                Set<Call> within = new LinkedHashSet<>();
                call.arguments().forEach(argument -> collect(argument, within));
                into.addAll(within.isEmpty() ? Set.of(call) : within);
            } else if (EAGER.contains(call.function())) {
                call.arguments().forEach(argument -> collect(argument, into));
            } else if (LAZY.contains(call.function())) {
                collect(call.arguments().get(0), into);
            }
        }
    }

    private static boolean isBatched(Call call) {
        return call.function().startsWith(UserCode.PREFIX) && UserPython.isIn(call.function());
    }

    private static Expression replaced(Expression expression, List<Call> calls, int first) {
        int made = expression instanceof Call ? calls.indexOf(expression) : -1;
        if (made >= 0) {
            return new Column(first + made, expression.type(), true);
        } else if (expression instanceof Cast cast) {
            return new Cast(replaced(cast.input(), calls, first), cast.type());
        } else if (expression instanceof Case branches) {
            return new Case(
                    branches.branches().stream()
                            .map(each -> new Case.Branch(
                                    replaced(each.condition(), calls, first), replaced(each.result(), calls, first)))
                            .toList(),
                    replaced(branches.otherwise(), calls, first),
                    branches.type(),
                    branches.nullable());
        } else if (expression instanceof Call call) {
            return new Call(
                    call.function(),
                    call.arguments().stream()
                            .map(each -> replaced(each, calls, first))
                            .toList(),
                    call.type(),
                    call.nullable());
        }
        return expression;
    }
}
