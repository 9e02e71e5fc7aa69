package dev.millrace.planner.tree;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Walking and changing scalar expressions. */
public final class Expressions {
    private Expressions() {}

    public static Literal literal(boolean value) {
        return new Literal(value, DataType.BOOLEAN);
    }

    public static Literal literal(long value) {
        return new Literal(value, DataType.BIGINT);
    }

    /** A BOOLEAN call, nullable if an argument is. */
    public static Call test(String function, Expression... arguments) {
        boolean nullable = false;
        for (Expression argument : arguments) {
            nullable |= argument.nullable();
        }
        return new Call(function, List.of(arguments), DataType.BOOLEAN, nullable);
    }

    /** {@code expression IS NOT NULL}. */
    public static Call isNotNull(Expression expression) {
        return new Call("is_not_null", List.of(expression), DataType.BOOLEAN, false);
    }

    public static boolean isCall(Expression expression, String function) {
        return expression instanceof Call call && call.function().equals(function);
    }

    public static boolean isLiteral(Expression expression, Object value) {
        return expression instanceof Literal literal && literal.value().equals(value);
    }

    /** The operands of nested ANDs, in order. */
    public static List<Expression> conjuncts(Expression condition) {
        Set<Expression> into = new LinkedHashSet<>();
        collectConjuncts(condition, into);
        return new ArrayList<>(into);
    }

    public static List<Expression> conjuncts(Optional<Expression> condition) {
        return condition.map(Expressions::conjuncts).orElse(List.of());
    }

    private static void collectConjuncts(Expression condition, Set<Expression> into) {
        if (condition instanceof Call call && call.function().equals("and")) {
            call.arguments().forEach(argument -> collectConjuncts(argument, into));
        } else {
            into.add(condition);
        }
    }

    /** All of {@code conjuncts}; empty when there are none. */
    public static Optional<Expression> and(List<Expression> conjuncts) {
        if (conjuncts.isEmpty()) {
            return Optional.empty();
        }
        if (conjuncts.size() == 1) {
            return Optional.of(conjuncts.get(0));
        }
        boolean nullable = conjuncts.stream().anyMatch(Expression::nullable);
        return Optional.of(new Call("and", conjuncts, DataType.BOOLEAN, nullable));
    }

    /** Both, in this order: what the first excludes the second need not be computed for. */
    public static Optional<Expression> and(Optional<Expression> first, Optional<Expression> second) {
        Set<Expression> all = new LinkedHashSet<>();
        first.ifPresent(condition -> collectConjuncts(condition, all));
        second.ifPresent(condition -> collectConjuncts(condition, all));
        return and(List.copyOf(all));
    }

    /** The operands of an expression. */
    public static List<Expression> operands(Expression expression) {
        Interrupt.checkCurrent(); // whatever walks over long expressions comes here
        if (expression instanceof Call call) {
            return call.arguments();
        } else if (expression instanceof Cast cast) {
            return List.of(cast.input());
        } else if (expression instanceof Case choice) {
            List<Expression> operands = new ArrayList<>();
            for (Case.Branch branch : choice.branches()) {
                operands.add(branch.condition());
                operands.add(branch.result());
            }
            operands.add(choice.otherwise());
            return operands;
        }
        assert expression instanceof Column || expression instanceof Literal || expression instanceof Null;
        return List.of();
    }

    /** Calls {@code visitor} with the expression and all below it, in order of the text. */
    public static void walk(Expression expression, Consumer<Expression> visitor) {
        visitor.accept(expression);
        if (!(expression instanceof Column) && !(expression instanceof Literal)) {
            operands(expression).forEach(operand -> walk(operand, visitor));
        }
    }

    /** Whether the expression or one below it passes {@code test}. */
    public static boolean any(Expression expression, Predicate<Expression> test) {
        return test.test(expression) || operands(expression).stream().anyMatch(operand -> any(operand, test));
    }

    /** How many nodes the expression has. */
    public static int size(Expression expression) {
        int size = 1;
        for (Expression operand : operands(expression)) {
            size += size(operand);
        }
        return size;
    }

    /** Adds the columns that the expression reads. */
    public static void addColumns(Expression expression, BitSet into) {
        if (expression instanceof Column column) {
            into.set(column.index());
        } else {
            operands(expression).forEach(operand -> addColumns(operand, into));
        }
    }

    public static BitSet columns(Expression expression) {
        BitSet columns = new BitSet();
        addColumns(expression, columns);
        return columns;
    }

    /** Whether all columns read pass {@code test}; true of constants. */
    public static boolean readsOnly(Expression expression, Predicate<Integer> test) {
        return expression instanceof Column column
                ? test.test(column.index())
                : operands(expression).stream().allMatch(operand -> readsOnly(operand, test));
    }

    /**
     * The expression with every part replaced by what {@code change} makes of it, operands first. Parts below which nothing
     * was replaced by another object stay the objects that they are.
     */
    public static Expression transform(Expression expression, UnaryOperator<Expression> change) {
        Interrupt.checkCurrent();
        return change.apply(withTransformedOperands(expression, change));
    }

    private static Expression withTransformedOperands(Expression expression, UnaryOperator<Expression> change) {
        if (expression instanceof Call call) {
            List<Expression> arguments = transformAll(call.arguments(), change);
            return arguments == call.arguments()
                    ? call
                    : new Call(call.function(), arguments, call.type(), call.nullable());
        } else if (expression instanceof Cast cast) {
            Expression input = transform(cast.input(), change);
            return input == cast.input() ? cast : new Cast(input, cast.type());
        } else if (expression instanceof Case choice) {
            boolean same = true;
            List<Case.Branch> branches = new ArrayList<>(choice.branches().size());
            for (Case.Branch branch : choice.branches()) {
                Expression condition = transform(branch.condition(), change);
                Expression result = transform(branch.result(), change);
                same &= condition == branch.condition() && result == branch.result();
                branches.add(new Case.Branch(condition, result));
            }
            Expression otherwise = transform(choice.otherwise(), change);
            return same && otherwise == choice.otherwise()
                    ? choice
                    : new Case(branches, otherwise, choice.type(), choice.nullable());
        }
        return expression;
    }

    /** The very list when nothing in it became another object. */
    private static List<Expression> transformAll(List<Expression> expressions, UnaryOperator<Expression> change) {
        boolean same = true;
        List<Expression> transformed = new ArrayList<>(expressions.size());
        for (Expression expression : expressions) {
            Expression other = transform(expression, change);
            same &= other == expression;
            transformed.add(other);
        }
        return same ? expressions : transformed;
    }

    /** The expression over an input whose columns are {@code projections} of another, over that other. */
    public static Expression substitute(Expression expression, List<Expression> projections) {
        return transform(expression, part -> part instanceof Column column ? projections.get(column.index()) : part);
    }

    public static List<Expression> substitute(List<Expression> expressions, List<Expression> projections) {
        return expressions.stream()
                .map(expression -> substitute(expression, projections))
                .toList();
    }

    /** The expression with its columns renumbered. */
    public static Expression renumber(Expression expression, IntUnaryOperator index) {
        return transform(
                expression,
                part -> part instanceof Column column
                        ? new Column(index.applyAsInt(column.index()), column.type(), column.nullable())
                        : part);
    }

    /** Whether the value may differ between two evaluations over one row, or each one waits. */
    public static boolean isVolatile(Expression expression) {
        return waits(expression) || any(expression, part -> isClock(part) || isDraw(part));
    }

    /** Whether something in it waits, which is what it is for, whatever becomes of the value. */
    public static boolean waits(Expression expression) {
        return any(expression, part -> isCall(part, "sleep_seconds"));
    }

    /** Whether this is a random value, or the time when it is computed: one of the row at hand, by the number that is its argument. */
    public static boolean isDraw(Expression expression) {
        return expression instanceof Call call
                && (call.function().equals("random")
                        || call.function().equals("clock_timestamp")
                        || call.function().equals("random_uuid")
                        || call.function().contains(Expression.EACH_TIME));
    }

    /** Whether a random value is in it. */
    public static boolean draws(Expression expression) {
        return any(expression, Expressions::isDraw);
    }

    /** Whether this is the time as it goes on, or the time when a row was read. */
    public static boolean isClock(Expression expression) {
        return isCall(expression, "proctime") || isCall(expression, "now");
    }

    /** Whether the time at which a row was read is read: it is another elsewhere in the plan. */
    public static boolean readsProctime(Expression expression) {
        return any(expression, part -> isCall(part, "proctime"));
    }

    /** Whether something is decided by the time at which it is computed. */
    public static boolean readsMoment(Expression expression) {
        return any(expression, part -> isCall(part, "now") || isCall(part, "clock_timestamp"));
    }

    /** Whether the time as it goes on is read. */
    public static boolean readsNow(Expression expression) {
        return any(expression, part -> isCall(part, "now"));
    }
}
