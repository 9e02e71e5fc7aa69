package dev.millrace.planner.bound;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.bound.BoundedRows.Members;
import dev.millrace.planner.bound.Known.Interval;
import dev.millrace.planner.bound.Known.Verdict;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What is known of aggregates, by aggregates of the ends of what they aggregate. Rows that are only possibly there widen the ends.
 *
 * <pre>
 * Aggregate(by k; sum(v))   becomes, of rows that are all certain,
 *   X                         Calc(k, sum, sum_low less its rounding, sum_high and its rounding)
 *                               Aggregate(by k; sum(v), sum(v_low), sum(v_high), sum(the larger of their amounts))
 *                                 X with v_low, v_high
 * </pre>
 *
 * Use once.
 */
final class AggregateBounds {
    private static final double FAR = Double.MAX_VALUE / 4; // finite, so that it can be put between two rows
    private static final double SUM_ROUNDING = 0x1p-55; // of sums in twice the precision of doubles: by far not reached
    private static final double DEVIATION_ROUNDING = 0x1p-40;

    private final PlanNode.Aggregate aggregate;
    private final BoundedRows input;
    private final List<Expression> before; // columns of the input, and those computed of them
    private final List<AggregateCall> calls = new ArrayList<>();
    private final int keys;

    private AggregateBounds(PlanNode.Aggregate aggregate, BoundedRows input) {
        this.aggregate = aggregate;
        this.input = input;
        this.before = new ArrayList<>(Nodes.columns(input.plan()));
        this.keys = aggregate.keys().size();
    }

    /** The aggregation of rows. */
    static BoundedRows of(PlanNode.Aggregate aggregate, BoundedRows input) {
        if (input.isExact()) {
            return BoundedRows.exact(Nodes.withInputs(aggregate, List.of(input.plan())));
        }
        boolean hasOwnGroups = input.members().equals(BoundedRows.UNKNOWN)
                || !aggregate.keys().stream().allMatch(input::isExact);
        if (hasOwnGroups) {
            BoundedRows nothing = BoundedRows.nothing(Nodes.withInputs(aggregate, List.of(input.asShown())));
            return aggregate.keys().isEmpty()
                    ? new BoundedRows(nothing.plan(), nothing.width(), nothing.columns(), BoundedRows.ALL)
                    : nothing;
        }
        return new AggregateBounds(aggregate, input).bounded();
    }

    private BoundedRows bounded() {
        List<Expression> results = new ArrayList<>();
        List<Optional<Known>> known = new ArrayList<>();
        for (int key = 0; key < keys; key++) {
            results.add(Nodes.column(aggregate, key));
            known.add(Optional.empty());
        }
        for (AggregateCall call : aggregate.calls()) {
            add(call, results, known);
        }
        List<Expression> members = new ArrayList<>();
        if (keys > 0 && input.members() instanceof Members.Some) {
            members.add(hasRows(input.shown()));
            members.add(hasRows(input.certain()));
        }
        PlanNode rows =
                before.size() == input.plan().schema().size() ? input.plan() : Nodes.project(input.plan(), before);
        PlanNode grouped =
                Nodes.aggregate(rows, aggregate.keys(), calls, aggregate.phase(), aggregate.appendOnlyInput());
        return BoundedRows.of(grouped, Optional.empty(), results, known, BoundedRows.ALL, members);
    }

    private Expression hasRows(Expression which) {
        return Expressions.test("gt", count(which), Expressions.literal(0L));
    }

    private void add(AggregateCall call, List<Expression> results, List<Optional<Known>> known) {
        Optional<Known> filter =
                call.filter().isPresent() ? input.columns().get(call.filter().getAsInt()) : Optional.empty();
        boolean areCertain = input.members().equals(BoundedRows.ALL) && filter.isEmpty();
        boolean isOfExact = call.arguments().stream().allMatch(input::isExact)
                && call.ordering().stream().map(OrderKey::column).allMatch(input::isExact);
        if (areCertain) {
            results.add(result(call));
            known.add(
                    isOfExact
                            ? Optional.empty()
                            : Optional.of(Rows.certain(this, call).known(call)));
            return;
        }
        Verdict passes = filter.isPresent()
                ? (Verdict) filter.get()
                : call.filter().isPresent()
                        ? Verdict.exact(input.column(call.filter().getAsInt()))
                        : Verdict.exact(Expressions.literal(true));
        Expression asked = call.filter().isPresent()
                ? Expressions.test("is_true", input.column(call.filter().getAsInt()))
                : Expressions.literal(true);
        Expression shown = Ends.and(List.of(input.shown(), asked));
        Expression certain = Ends.and(List.of(input.certain(), passes.isTrue()));
        results.add(result(filtered(call, shown)));
        known.add(Optional.of(new Rows(this, passes.mayBeTrue(), certain).known(call)));
    }

    private static AggregateCall with(AggregateCall call, OptionalInt filter) {
        return new AggregateCall(
                call.function(),
                call.arguments(),
                call.distinct(),
                filter,
                call.ordering(),
                call.parameters(),
                call.type(),
                call.code());
    }

    private AggregateCall filtered(AggregateCall call, Expression filter) {
        return with(call, Expressions.isLiteral(filter, true) ? OptionalInt.empty() : OptionalInt.of(place(filter)));
    }

    /** The column of the aggregation's input that has a value. */
    private int place(Expression value) {
        int known = before.indexOf(value);
        if (known >= 0) {
            return known;
        }
        before.add(value);
        return before.size() - 1;
    }

    /** The result of a call, which is added if it is new. */
    private Expression result(AggregateCall call) {
        int known = calls.indexOf(call);
        if (known < 0) {
            known = calls.size();
            calls.add(call);
        }
        return new Column(keys + known, call.type(), call.nullable());
    }

    private Expression count(Expression which) {
        return result(filtered(plain(Function.COUNT, List.of(), DataType.BIGINT), which));
    }

    private static AggregateCall plain(Function function, List<Integer> arguments, DataType type) {
        return new AggregateCall(function, arguments, false, OptionalInt.empty(), List.of(), List.of(), type);
    }

    /**
     * Rows that a call aggregates.
     *
     * @param possible which may be among them
     * @param certain which are
     */
    private record Rows(AggregateBounds of, Expression possible, Expression certain) {
        static Rows certain(AggregateBounds of, AggregateCall call) {
            Expression which = call.filter().isPresent()
                    ? Expressions.test("is_true", of.input.column(call.filter().getAsInt()))
                    : Expressions.literal(true);
            return new Rows(of, which, which);
        }

        private boolean areCertain() {
            return possible.equals(certain);
        }

        private Expression uncertain() {
            return Ends.and(List.of(possible, Ends.not(certain)));
        }

        Known known(AggregateCall call) {
            boolean isCount = call.function() == Function.COUNT;
            int subject = call.arguments().isEmpty()
                    ? call.ordering().isEmpty() ? -1 : call.ordering().get(0).column()
                    : call.arguments().get(0);
            if (subject < 0 || isCount) {
                return isCount ? counted(call, subject) : Known.nothing(call.type());
            }
            Interval ends = ends(subject);
            boolean isKnown = Ends.isNumber(of.input.plan().schema().type(subject))
                    && Ends.isNumber(call.type())
                    && call.arguments().size() <= 1
                    && call.ordering().stream().allMatch(key -> key.column() == subject);
            if (!isKnown || call.distinct() && call.function() != Function.MIN && call.function() != Function.MAX) {
                return Known.nothing(call.type());
            }
            Rows rows = ends.mayBeNull() ? new Rows(of, possible, Expressions.literal(false)) : this;
            Interval found = switch (call.function()) {
                case SUM -> rows.summed(ends, call.type());
                case AVG -> rows.averaged(ends, call.type());
                case MIN -> rows.least(ends);
                case MAX -> rows.greatest(ends);
                case STDDEV_POP, STDDEV_SAMP, VAR_POP, VAR_SAMP -> rows.spread(call, ends, subject);
                case PERCENTILE_CONT, PERCENTILE_DISC -> rows.percentile(call, ends);
                case COUNT,
                        BOOL_AND,
                        BOOL_OR,
                        FIRST_VALUE,
                        LAST_VALUE,
                        STRING_AGG,
                        ARRAY_AGG,
                        APPROX_COUNT_DISTINCT,
                        USER -> Interval.NOTHING;
            };
            return found.bounded();
        }

        private Interval ends(int column) {
            return of.input.row().interval(of.input.column(column));
        }

        private Expression aggregated(Function function, Expression value, Expression which) {
            return of.result(of.filtered(plain(function, List.of(of.place(value)), DataType.DOUBLE), which));
        }

        private Expression counted(Expression value, Expression which) {
            AggregateCall call = value.nullable()
                    ? plain(Function.COUNT, List.of(of.place(value)), DataType.BIGINT)
                    : plain(Function.COUNT, List.of(), DataType.BIGINT);
            return Ends.asDouble(of.result(of.filtered(call, which)));
        }

        private Interval counted(AggregateCall call, int subject) {
            Expression zero = Ends.literal(0);
            if (subject < 0) {
                return new Interval(Ends.asDouble(of.count(certain)), Ends.asDouble(of.count(possible)), false);
            }
            if (of.input.isExact(subject)) {
                AggregateCall plain = with(call, OptionalInt.empty());
                return new Interval(
                        Ends.asDouble(of.result(of.filtered(plain, certain))),
                        Ends.asDouble(of.result(of.filtered(plain, possible))),
                        false);
            }
            Interval ends = ends(subject);
            if (ends.equals(Interval.NOTHING) || ends.mayBeNull()) {
                return new Interval(zero, Ends.asDouble(of.count(possible)), false);
            }
            Expression least = counted(ends.low(), certain);
            return new Interval(
                    call.distinct() ? Ends.extreme(false, List.of(least, Ends.literal(1))) : least,
                    counted(ends.low(), possible),
                    false);
        }

        private Expression amount(Interval ends) {
            return aggregated(Function.MAX, Ends.absolute(ends).high(), possible);
        }

        private Interval summed(Interval ends, DataType type) {
            Expression zero = Ends.literal(0);
            boolean all = areCertain();
            Expression low = all
                    ? ends.low()
                    : Ends.choose(certain, ends.low(), where(ends, Ends.extreme(false, List.of(ends.low(), zero))));
            Expression high = all
                    ? ends.high()
                    : Ends.choose(certain, ends.high(), where(ends, Ends.extreme(true, List.of(ends.high(), zero))));
            Expression amounts = aggregated(Function.SUM, Ends.absolute(ends).high(), possible);
            Expression slack = Ends.scaled(amounts, SUM_ROUNDING, Double.MIN_VALUE);
            return Ends.rounded(
                    new Interval(
                            Ends.call("bound_total_low", aggregated(Function.SUM, low, possible), slack),
                            Ends.call("bound_total_high", aggregated(Function.SUM, high, possible), slack),
                            !all),
                    type);
        }

        /** Of rows whose ends are not NULL: {@code least} passes over one that is. */
        private static Expression where(Interval ends, Expression value) {
            return ends.low().nullable() ? Ends.where(Expressions.isNotNull(ends.low()), value) : value;
        }

        private Interval averaged(Interval ends, DataType type) {
            Expression slack = Ends.scaled(amount(ends), Ends.ROUNDING, Ends.unit(type));
            return new Interval(
                    Ends.call("bound_low", mean(ends.low(), false), slack),
                    Ends.call("bound_high", mean(ends.high(), true), slack),
                    !areCertain());
        }

        /** The mean of the certain rows, or with all others as far away as the farthest: between these lies the mean with any of the others. */
        private Expression mean(Expression value, boolean high) {
            String end = high ? "_high" : "_low";
            Expression rows = counted(value, certain);
            Expression sum = aggregated(Function.SUM, value, certain);
            Expression mean = Ends.call("bound_divide" + end, sum, sum, rows, rows);
            if (areCertain()) {
                return mean;
            }
            Expression others = counted(value, uncertain());
            Expression farthest = aggregated(high ? Function.MAX : Function.MIN, value, uncertain());
            Expression far = Ends.call("bound_multiply" + end, farthest, farthest, others, others);
            Expression total = Ends.call("bound_add" + end, sum, far);
            Expression all = Ends.call("bound_add_low", rows, others);
            Expression together = Ends.call("bound_divide" + end, total, total, all, all);
            Expression none = Ends.literal(0);
            return Ends.choose(
                    Expressions.test("eq", rows, none),
                    farthest,
                    Ends.choose(
                            Expressions.test("eq", others, none), mean, Ends.extreme(high, List.of(mean, together))));
        }

        private Interval least(Interval ends) {
            Expression high = aggregated(Function.MIN, ends.high(), certain);
            return new Interval(
                    aggregated(Function.MIN, ends.low(), possible),
                    areCertain() ? high : Ends.coalesce(high, aggregated(Function.MAX, ends.high(), possible)),
                    !areCertain());
        }

        private Interval greatest(Interval ends) {
            Expression low = aggregated(Function.MAX, ends.low(), certain);
            return new Interval(
                    areCertain() ? low : Ends.coalesce(low, aggregated(Function.MIN, ends.low(), possible)),
                    aggregated(Function.MAX, ends.high(), possible),
                    !areCertain());
        }

        /**
         * A deviation moves by at most the deviation of what the values are off, which is at most the root of their mean square. Of rows that are not
         * certain it is only known to be at most half the range (Popoviciu).
         */
        private Interval spread(AggregateCall call, Interval ends, int subject) {
            boolean isSample = call.function() == Function.STDDEV_SAMP || call.function() == Function.VAR_SAMP;
            boolean isVariance = call.function() == Function.VAR_POP || call.function() == Function.VAR_SAMP;
            Expression zero = Ends.literal(0);
            Expression low = zero;
            Expression high;
            if (areCertain()) {
                Expression off = RowBounds.distance(of.input.column(subject), ends);
                Expression squares =
                        aggregated(Function.SUM, Ends.call("bound_multiply_high", off, off, off, off), possible);
                Expression rows = counted(ends.low(), possible);
                Expression divisor = isSample ? Ends.call("bound_add_low", rows, Ends.literal(-1)) : rows;
                Expression moved =
                        Ends.call("bound_root", Ends.call("bound_divide_high", squares, squares, divisor, divisor));
                Expression shown = Ends.asDouble(of.result(of.filtered(call, possible)));
                Expression deviation = isVariance ? Ends.call("bound_root", shown) : shown;
                Expression slack = Ends.call(
                        "bound_add_high",
                        Ends.call("bound_high", moved, Ends.scaled(moved, Ends.ROUNDING, 0)),
                        Ends.scaled(amount(ends), DEVIATION_ROUNDING, Ends.unit(call.type())));
                low = Ends.extreme(true, List.of(Ends.call("bound_low", deviation, slack), zero));
                high = Ends.call("bound_high", deviation, slack);
            } else {
                Expression least = aggregated(Function.MIN, ends.low(), possible);
                Expression range = Ends.call(
                        "bound_add_high",
                        aggregated(Function.MAX, ends.high(), possible),
                        Ends.call("bound_negate_high", least, least));
                Expression most = Ends.literal(isSample ? .7072 : .5001);
                high = Ends.call("bound_multiply_high", range, range, most, most);
            }
            Interval deviation = new Interval(low, high, !areCertain());
            return isVariance
                    ? Ends.wider(Ends.product("multiply", deviation, deviation), Ends.ROUNDING, Ends.unit(call.type()))
                    : deviation;
        }

        /** Rows that are only possibly there may be at either end. */
        private Interval percentile(AggregateCall call, Interval ends) {
            Expression slack = call.function() == Function.PERCENTILE_CONT
                    ? Ends.scaled(amount(ends), Ends.ROUNDING, 0)
                    : Ends.literal(0);
            Expression low = Ends.call("bound_total_low", percentile(call, end(ends, ends.low(), -FAR)), slack);
            Expression high = Ends.call("bound_total_high", percentile(call, end(ends, ends.high(), FAR)), slack);
            return areCertain()
                    ? new Interval(low, high, false)
                    : new Interval(
                            Ends.extreme(true, List.of(low, aggregated(Function.MIN, ends.low(), possible))),
                            Ends.extreme(false, List.of(high, aggregated(Function.MAX, ends.high(), possible))),
                            true);
        }

        private Expression end(Interval ends, Expression end, double far) {
            return areCertain() ? end : Ends.choose(certain, end, where(ends, Ends.literal(far)));
        }

        private Expression percentile(AggregateCall call, Expression value) {
            int column = of.place(value);
            return of.result(of.filtered(
                    new AggregateCall(
                            call.function(),
                            call.arguments().isEmpty() ? List.of() : List.of(column),
                            false,
                            OptionalInt.empty(),
                            call.ordering().stream()
                                    .map(key -> new OrderKey(column, key.descending(), key.nullsFirst()))
                                    .toList(),
                            call.parameters(),
                            DataType.DOUBLE),
                    possible));
        }
    }
}
