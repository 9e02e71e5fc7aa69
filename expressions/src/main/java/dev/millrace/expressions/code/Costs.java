package dev.millrace.expressions.code;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.List;
import java.util.Set;

/** Rough costs of expressions, in units of some tenths of a nanosecond a row: they order conjuncts and decide what to share. */
final class Costs {
    /** What is no dearer is computed without a branch around it, and again rather than kept. */
    static final int CHEAP = 10;

    private static final Set<String> COMPARISONS = Set.of("eq", "ne", "lt", "le", "gt", "ge");
    private static final Set<String> LOGIC =
            Set.of("and", "or", "not", "is_null", "is_not_null", "is_true", "is_not_true", "is_false", "is_not_false");
    private static final Set<String> PATTERNS = Set.of(
            "similar_to",
            "regex_match",
            "regex_imatch",
            "regexp_like",
            "regexp_count",
            "regexp_substr",
            "regexp_replace",
            "regexp_extract",
            "substring_regex");

    private static final Set<String> OTHER_TOTAL =
            Set.of("coalesce", "is_distinct_from", "is_not_distinct_from", LongExpressions.PART);

    private Costs() {}

    static int of(Expression expression) {
        Interrupt.checkCurrent(); // asked of each part of a deep expression
        if (expression instanceof Call call) {
            return sum(call.arguments()) + own(call);
        }
        if (expression instanceof Case branches) {
            int cost = 4 + of(branches.otherwise());
            for (Case.Branch branch : branches.branches()) {
                cost += of(branch.condition()) + of(branch.result());
            }
            return cost;
        }
        if (expression instanceof Cast cast) {
            boolean text = cast.input().type().isText() != cast.type().isText();
            return of(cast.input()) + (text ? 60 : 2);
        }
        return expression instanceof Column ? 1 : 0;
    }

    private static int sum(List<Expression> expressions) {
        return expressions.stream().mapToInt(Costs::of).sum();
    }

    private static int own(Call call) {
        String name = call.function();
        boolean text =
                call.arguments().stream().anyMatch(argument -> argument.type().isBytes());
        if (LOGIC.contains(name)) {
            return 1;
        }
        if (COMPARISONS.contains(name)) {
            return text ? 20 : 1;
        }
        if (PATTERNS.contains(name)) {
            return 500;
        }
        return switch (name) {
            case "add", "subtract", "negate", "multiply", "abs" -> text ? 80 : 2;
            case "mod", "divide" -> text ? 120 : 12;
            case "pi", "proctime", "now" -> 0;
            default -> text ? 80 : 20;
        };
    }

    /** Whether reading a value back costs less than computing it; comparisons are left to their operands. */
    static boolean isWorthKeeping(Expression expression) {
        boolean compares = expression instanceof Call call
                && (COMPARISONS.contains(call.function()) || LOGIC.contains(call.function()));
        return !compares && of(expression) > CHEAP;
    }

    /** Whether evaluating it can fail for some rows, so that it may not be moved before what was written before it. */
    static boolean mayFail(Expression expression) {
        if (expression instanceof Call call) {
            boolean total = LOGIC.contains(call.function())
                    || COMPARISONS.contains(call.function())
                    || OTHER_TOTAL.contains(call.function())
                    || isModuloByNonZero(call)
                    || isRoomyNumeric(call);
            return !total || call.arguments().stream().anyMatch(Costs::mayFail);
        }
        if (expression instanceof Cast cast) {
            return !isWidening(cast.input().type(), cast.type()) || mayFail(cast.input());
        }
        return !(expression instanceof Column || expression instanceof Literal || expression instanceof Null);
    }

    /** NUMERIC arithmetic whose result type has room for every result. */
    private static boolean isRoomyNumeric(Call call) {
        return call.type().kind() == Kind.NUMERIC
                && call.type().precision() < DataType.MAX_NUMERIC_PRECISION
                && Set.of("add", "subtract", "multiply", "negate", "abs").contains(call.function());
    }

    /** A cast that has a result for every value. */
    private static boolean isWidening(DataType from, DataType to) {
        if (from.isInteger() && to.kind() == Kind.NUMERIC) {
            int digits = from.kind() == Kind.BIGINT ? 19 : from.kind() == Kind.INTEGER ? 10 : 5;
            return to.precision() - to.scale() >= digits;
        }
        if (from.kind() == Kind.NUMERIC && to.kind() == Kind.NUMERIC) {
            return to.scale() >= from.scale() && to.precision() - to.scale() >= from.precision() - from.scale();
        }
        if (to.kind() == Kind.BIGNUM && (from.isInteger() || from.isExact())) {
            return to.precision() == 0;
        }
        boolean wider = from.isInteger() && to.isNumber() && from.kind().compareTo(to.kind()) <= 0;
        return wider
                || (from.kind() == Kind.REAL && to.kind() == Kind.DOUBLE)
                || (from.isText() && to.kind() == Kind.TEXT);
    }

    /** An integer modulo a literal that is not 0: cannot fail. */
    static boolean isModuloByNonZero(Call call) {
        return call.function().equals("mod")
                && call.type().isInteger()
                && call.arguments().get(1) instanceof Literal literal
                && !literal.value().equals(0L);
    }
}
