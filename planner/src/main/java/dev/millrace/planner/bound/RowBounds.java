package dev.millrace.planner.bound;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.planner.bound.Known.Interval;
import dev.millrace.planner.bound.Known.Verdict;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Function;

/**
 * What is known of expressions over a row, by what is known of its columns. An operation that rounds to the nearest keeps the order of its operands, so the
 * ends of a result are what the operation makes of ends, rounded in the same way.
 */
final class RowBounds {
    private static final Set<String> ASKING = Set.of("error_bound", "lower_bound", "upper_bound");
    private static final double DIGITS_OF_DOUBLE = 1e-14; // a cast to NUMERIC takes as many as are sure
    private static final double DIGITS_OF_REAL = 1e-5;

    private final List<Optional<Known>> columns;

    /** @param columns what is known of the first columns; those behind them, and those without, are exact */
    RowBounds(List<Optional<Known>> columns) {
        this.columns = List.copyOf(columns);
    }

    /** Whether this asks how far off a value may be. */
    static boolean asks(Expression expression) {
        return expression instanceof Call call && ASKING.contains(call.function());
    }

    /** Whether the value that is shown is the true one. */
    boolean isExact(Expression expression) {
        if (expression instanceof Column column) {
            return column.index() >= columns.size()
                    || columns.get(column.index()).isEmpty();
        }
        return asks(expression) || Expressions.operands(expression).stream().allMatch(this::isExact);
    }

    /** The expression as it is shown, with what is asked of bounds computed. */
    Expression shown(Expression expression) {
        if (!Expressions.any(expression, RowBounds::asks)) {
            return expression;
        }
        if (asks(expression)) {
            return answer((Call) expression);
        }
        if (expression instanceof Call call) {
            return new Call(call.function(), shown(call.arguments()), call.type(), call.nullable());
        } else if (expression instanceof Cast cast) {
            return new Cast(shown(cast.input()), cast.type());
        } else if (expression instanceof Case choice) {
            return new Case(
                    choice.branches().stream()
                            .map(branch -> new Case.Branch(shown(branch.condition()), shown(branch.result())))
                            .toList(),
                    shown(choice.otherwise()),
                    choice.type(),
                    choice.nullable());
        }
        return expression;
    }

    private List<Expression> shown(List<Expression> expressions) {
        return expressions.stream().map(this::shown).toList();
    }

    private Expression answer(Call asked) {
        Expression of = asked.arguments().get(0);
        while (of instanceof Cast cast
                && Ends.isNumber(cast.input().type())
                && cast.type().kind() == DataType.Kind.DOUBLE) {
            of = cast.input(); // what bounds are doubles of is not what was asked
        }
        Expression value = shown(of);
        Interval ends = interval(of);
        return switch (asked.function()) {
            case "lower_bound" -> ends.low();
            case "upper_bound" -> isExact(of) ? ends.high() : Ends.call("bound_top", ends.low(), ends.high());
            default -> isExact(of) ? Ends.call("error_bound", Ends.asDouble(value)) : distance(value, ends);
        };
    }

    /** How far a column that is not exact may be off: a truth value by nothing or, as what is no number, by any amount. */
    Expression distance(int column, Expression value) {
        if (columns.get(column).orElseThrow() instanceof Verdict verdict) {
            Expression isKnown = new Call("or", List.of(verdict.isTrue(), verdict.isFalse()), DataType.BOOLEAN, false);
            return Ends.choose(isKnown, Ends.literal(0), Ends.literal(Double.POSITIVE_INFINITY));
        }
        return Ends.isNumber(value.type()) ? distance(value, interval(value)) : Ends.literal(Double.POSITIVE_INFINITY);
    }

    /** How far the value that is shown may be off; where none is shown and there may be one, infinitely. */
    static Expression distance(Expression value, Interval ends) {
        Interval around = Ends.exact(value);
        Expression below = Ends.call("bound_distance", around.low(), ends.low(), ends.high());
        Expression above = Ends.call("bound_distance", around.high(), ends.low(), ends.high());
        Expression distance = below.equals(above) ? below : Ends.extreme(true, List.of(below, above));
        return ends.mayBeNull()
                ? Ends.coalesce(
                        distance, Ends.where(Expressions.isNotNull(ends.low()), Ends.literal(Double.POSITIVE_INFINITY)))
                : distance;
    }

    /** What is known of a value; empty if it is exact. */
    Optional<Known> known(Expression expression) {
        if (isExact(expression)) {
            return Optional.empty();
        }
        return Optional.of(
                expression.type().kind() == DataType.Kind.BOOLEAN ? verdict(expression) : interval(expression));
    }

    /** The ends of a number; of anything else that is not exact, nothing. */
    Interval interval(Expression expression) {
        if (isExact(expression)) {
            return Ends.exact(shown(expression));
        }
        if (!Ends.isNumber(expression.type())) {
            return Interval.NOTHING;
        }
        Interval found = Interval.NOTHING;
        if (expression instanceof Column column) {
            found = columns.get(column.index()).orElseThrow() instanceof Interval interval ? interval : found;
        } else if (expression instanceof Call call) {
            found = ofCall(call);
        } else if (expression instanceof Cast cast) {
            found = ofCast(cast);
        } else if (expression instanceof Case choice) {
            found = ofCase(choice);
        }
        return found.bounded();
    }

    private Interval ofCall(Call call) {
        if (!call.arguments().stream().allMatch(argument -> Ends.isNumber(argument.type()))) {
            return Interval.NOTHING;
        }
        List<Interval> of = call.arguments().stream().map(this::interval).toList();
        Interval first = of.get(0);
        DataType type = call.type();
        return switch (call.function()) {
            case "add" -> Ends.rounded(Ends.sum(first, of.get(1)), type);
            case "subtract" -> Ends.rounded(Ends.sum(first, Ends.negated(of.get(1))), type);
            case "multiply" -> Ends.rounded(Ends.product("multiply", first, of.get(1)), type);
            case "divide" -> {
                Interval quotient = Ends.product("divide", first, of.get(1));
                boolean isCut = isWhole(type);
                yield isCut ? Ends.wider(quotient, 0, 1) : Ends.rounded(quotient, type);
            }
            case "negate" -> Ends.negated(first);
            case "abs" -> Ends.absolute(first);
            case "sqrt" -> Ends.rounded(each(first, end -> Ends.call("bound_root", end)), type);
            case "floor", "ceil", "round", "trunc", "sign" ->
                type.kind() == DataType.Kind.DOUBLE
                        ? each(first, end -> Ends.call(call.function(), end))
                        : call.function().equals("sign") ? Interval.NOTHING : Ends.wider(first, 0, digits(call));
            case "greatest", "least" -> extreme(call.function().equals("greatest"), of);
            case "coalesce" -> of.stream().anyMatch(Interval::mayBeNull) ? Interval.NOTHING : coalesced(of);
            default -> Interval.NOTHING;
        };
    }

    private static boolean isWhole(DataType type) {
        return switch (type.kind()) {
            case SMALLINT, INTEGER, BIGINT -> true;
            default -> false;
        };
    }

    /** How far rounding a NUMERIC to some digits moves it at most. */
    private static double digits(Call call) {
        if (call.arguments().size() == 1) {
            return 1;
        }
        return call.arguments().get(1) instanceof Expression.Literal literal && literal.value() instanceof Long digits
                ? Math.pow(10, -Math.max(-300, Math.min(300, digits)))
                : Double.POSITIVE_INFINITY;
    }

    private static Interval each(Interval interval, Function<Expression, Expression> end) {
        return new Interval(end.apply(interval.low()), end.apply(interval.high()), interval.mayBeNull());
    }

    private static Interval extreme(boolean greatest, List<Interval> of) {
        return of.stream().anyMatch(Interval::mayBeNull)
                ? Interval.NOTHING
                : new Interval(
                        Ends.extreme(greatest, of.stream().map(Interval::low).toList()),
                        Ends.extreme(greatest, of.stream().map(Interval::high).toList()),
                        false);
    }

    private static Interval coalesced(List<Interval> of) {
        BinaryOperator<Expression> first = Ends::coalesce;
        return new Interval(
                of.stream().map(Interval::low).reduce(first).orElseThrow(),
                of.stream().map(Interval::high).reduce(first).orElseThrow(),
                false);
    }

    private Interval ofCast(Cast cast) {
        DataType from = cast.input().type();
        if (!Ends.isNumber(from)) {
            return Interval.NOTHING;
        }
        Interval of = interval(cast.input());
        boolean isFloating = from.kind() == DataType.Kind.DOUBLE || from.kind() == DataType.Kind.REAL;
        return switch (cast.type().kind()) {
            case DOUBLE -> of;
            case REAL -> Ends.rounded(of, cast.type());
            case SMALLINT, INTEGER, BIGINT ->
                isFloating ? each(of, end -> Ends.call("round", end)) : from.isExact() ? Ends.wider(of, 0, 1) : of;
            case NUMERIC, BIGNUM -> {
                double share = from.kind() == DataType.Kind.DOUBLE
                        ? DIGITS_OF_DOUBLE
                        : from.kind() == DataType.Kind.REAL ? DIGITS_OF_REAL : Ends.ROUNDING;
                yield Ends.wider(of, share, Ends.unit(cast.type()));
            }
            default -> Interval.NOTHING;
        };
    }

    /** The ends of all branches that may be taken. */
    private Interval ofCase(Case choice) {
        List<Expression> lows = new ArrayList<>();
        List<Expression> highs = new ArrayList<>();
        List<Expression> before = new ArrayList<>(); // that no branch before is taken for certain
        boolean areExact = true;
        boolean mayBeNull = false;
        List<Case.Branch> low = new ArrayList<>();
        List<Case.Branch> high = new ArrayList<>();
        for (Case.Branch branch : choice.branches()) {
            Interval result = interval(branch.result());
            Verdict when = verdict(branch.condition());
            areExact &= isExact(branch.condition());
            mayBeNull |= result.mayBeNull();
            low.add(new Case.Branch(when.isTrue(), result.low()));
            high.add(new Case.Branch(when.isTrue(), result.high()));
            List<Expression> taken = new ArrayList<>(before);
            taken.add(when.mayBeTrue());
            lows.add(Ends.where(Ends.and(taken), result.low()));
            highs.add(Ends.where(Ends.and(taken), result.high()));
            before.add(Ends.not(when.isTrue()));
        }
        Interval otherwise = interval(choice.otherwise());
        mayBeNull |= otherwise.mayBeNull();
        if (areExact) {
            return new Interval(
                    new Case(low, otherwise.low(), DataType.DOUBLE, true),
                    new Case(high, otherwise.high(), DataType.DOUBLE, true),
                    mayBeNull);
        }
        lows.add(Ends.where(Ends.and(before), otherwise.low()));
        highs.add(Ends.where(Ends.and(before), otherwise.high()));
        boolean hasNull = choice.otherwise().nullable()
                || choice.branches().stream().anyMatch(branch -> branch.result().nullable());
        return new Interval(Ends.extreme(false, lows), Ends.extreme(true, highs), mayBeNull || hasNull);
    }

    /** What is known of a truth value. */
    Verdict verdict(Expression expression) {
        if (isExact(expression)) {
            return Verdict.exact(shown(expression));
        }
        if (expression instanceof Column column) {
            return columns.get(column.index()).orElseThrow() instanceof Verdict verdict ? verdict : Verdict.NOTHING;
        }
        if (!(expression instanceof Call call)) {
            return Verdict.NOTHING;
        }
        List<Expression> arguments = call.arguments();
        return switch (call.function()) {
            case "and" -> all(arguments.stream().map(this::verdict).toList());
            case "or" ->
                all(arguments.stream()
                                .map(argument -> verdict(argument).negated())
                                .toList())
                        .negated();
            case "not" -> verdict(arguments.get(0)).negated();
            case "is_true" -> verdict(arguments.get(0)).known();
            case "is_not_true" -> verdict(arguments.get(0)).known().negated();
            case "is_false" -> verdict(arguments.get(0)).negated().known();
            case "is_not_false" -> verdict(arguments.get(0)).negated().known().negated();
            case "is_null", "is_not_null" ->
                known(arguments.get(0)).orElseThrow() instanceof Interval interval && !interval.mayBeNull()
                        ? Verdict.exact(shown(expression))
                        : Verdict.NOTHING;
            case "lt" -> less(arguments.get(0), arguments.get(1), "lt", "ge");
            case "le" -> less(arguments.get(0), arguments.get(1), "le", "gt");
            case "gt" -> less(arguments.get(1), arguments.get(0), "lt", "ge");
            case "ge" -> less(arguments.get(1), arguments.get(0), "le", "gt");
            case "eq" -> equal(arguments.get(0), arguments.get(1));
            case "ne" -> equal(arguments.get(0), arguments.get(1)).negated();
            default -> Verdict.NOTHING;
        };
    }

    private static Verdict all(List<Verdict> of) {
        return new Verdict(
                Ends.and(of.stream().map(Verdict::mayBeTrue).toList()),
                Ends.and(of.stream().map(Verdict::isTrue).toList()),
                any(of.stream().map(Verdict::mayBeFalse).toList()),
                any(of.stream().map(Verdict::isFalse).toList()));
    }

    private static Expression any(List<Expression> of) {
        return of.size() == 1 ? of.get(0) : new Call("or", of, DataType.BOOLEAN, false);
    }

    private Verdict less(Expression a, Expression b, String test, String opposite) {
        if (!Ends.isNumber(a.type()) || !Ends.isNumber(b.type())) {
            return Verdict.NOTHING;
        }
        Interval left = interval(a);
        Interval right = interval(b);
        return certain(
                left.mayBeNull() || right.mayBeNull(),
                compare(test, left.low(), right.high()),
                compare(test, left.high(), right.low()),
                compare(opposite, left.high(), right.low()),
                compare(opposite, left.low(), right.high()));
    }

    private Verdict equal(Expression a, Expression b) {
        if (!Ends.isNumber(a.type()) || !Ends.isNumber(b.type())) {
            return Verdict.NOTHING;
        }
        Interval left = interval(a);
        Interval right = interval(b);
        return certain(
                left.mayBeNull() || right.mayBeNull(),
                Ends.and(List.of(compare("le", left.low(), right.high()), compare("le", right.low(), left.high()))),
                Ends.and(List.of(compare("ge", left.low(), right.high()), compare("ge", right.low(), left.high()))),
                any(List.of(compare("lt", left.low(), right.high()), compare("lt", right.low(), left.high()))),
                any(List.of(compare("lt", left.high(), right.low()), compare("lt", right.high(), left.low()))));
    }

    private static Verdict certain(
            boolean mayBeNull, Expression mayBeTrue, Expression isTrue, Expression mayBeFalse, Expression isFalse) {
        Expression no = Expressions.literal(false);
        return mayBeNull
                ? new Verdict(mayBeTrue, no, mayBeFalse, no)
                : new Verdict(mayBeTrue, isTrue, mayBeFalse, isFalse);
    }

    private static Expression compare(String test, Expression a, Expression b) {
        return Expressions.test("is_true", Expressions.test(test, a, b));
    }
}
