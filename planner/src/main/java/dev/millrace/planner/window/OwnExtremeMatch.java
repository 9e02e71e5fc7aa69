package dev.millrace.planner.window;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.PlanNode.WindowAggregate;
import dev.millrace.plan.node.PlanNode.WindowAssign;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.fact.WindowColumns;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * One try of {@link JoinWithOwnExtreme}: the join's whole condition is written over the columns that the WindowExtreme
 * would have (those of S, then window_start and window_end) and what the WindowExtreme implies is struck out of it.
 */
final class OwnExtremeMatch {
    private final WindowAggregate extremes;
    /** S, and where its columns and filters come from on each side. */
    private final CalcView ofAggregate;

    private final int width;
    private final int timeColumn;
    private final int valueColumn;
    private final boolean maximum;
    private final List<Integer> keys;
    /** The keys, and what else tells one window's rows from another's. */
    private final List<Integer> groupKeys;

    private final List<Expression> output = new ArrayList<>();
    private final List<Expression> conditions = new ArrayList<>();
    private WindowSpec window;
    private boolean closedEnd;
    /** Whether the rows come once per window already. */
    private boolean assigned;

    private OwnExtremeMatch(WindowAggregate extremes, CalcView ofAggregate, List<Integer> columns) {
        this.extremes = extremes;
        this.ofAggregate = ofAggregate;
        this.width = ofAggregate.base().schema().size();
        this.timeColumn = columns.get(0);
        this.valueColumn = columns.get(1);
        this.keys = columns.subList(2, columns.size());
        this.groupKeys = new ArrayList<>(keys);
        this.window = extremes.window();
        this.maximum = extremes.calls().get(0).function() == Function.MAX;
    }

    static Optional<OwnExtremeMatch> match(Join join, boolean extremeOnRight, Inference inference) {
        CalcView rowSide = CalcView.of(extremeOnRight ? join.left() : join.right());
        CalcView extremeSide = CalcView.of(extremeOnRight ? join.right() : join.left());
        if (!(extremeSide.base() instanceof WindowAggregate extremes)
                || extremes.calls().size() != 1
                || !isExtreme(extremes.calls().get(0))
                || extremes.window() instanceof WindowSpec.Session) {
            return Optional.empty();
        }
        CalcView ofAggregate = CalcView.of(extremes.input());
        List<Integer> columns = new ArrayList<>();
        List<Integer> used = new ArrayList<>(List.of(
                extremes.timeColumn(), extremes.calls().get(0).arguments().get(0)));
        used.addAll(extremes.keys());
        for (int column : used) {
            if (!(ofAggregate.columns().get(column) instanceof Column of)) {
                return Optional.empty();
            }
            columns.add(of.index());
        }
        OwnExtremeMatch match = new OwnExtremeMatch(extremes, ofAggregate, columns);
        return match.sameRows(rowSide)
                .filter(rows -> match.condition(join, extremeOnRight, rows, extremeSide, inference))
                .map(rows -> match);
    }

    private static boolean isExtreme(AggregateCall call) {
        return (call.function() == Function.MAX || call.function() == Function.MIN)
                && call.filter().isEmpty();
    }

    /**
     * The rows' side over S: as it is, or through a window function equal to the aggregation's, whose two columns then
     * are the WindowExtreme's.
     */
    private Optional<CalcView> sameRows(CalcView side) {
        CalcView rows = side;
        if (side.base() instanceof WindowAssign assign && !side.base().equals(ofAggregate.base())) {
            CalcView below = CalcView.of(assign.input());
            if (!assign.window().equals(extremes.window())
                    || !(below.columns().get(assign.timeColumn()) instanceof Column time)
                    || time.index() != timeColumn) {
                return Optional.empty();
            }
            assigned = true;
            List<Expression> columns = new ArrayList<>(below.columns());
            columns.add(windowColumn(0));
            columns.add(windowColumn(1));
            List<Expression> filters = new ArrayList<>(below.conditions());
            side.conditions().forEach(condition -> filters.add(Expressions.substitute(condition, columns)));
            rows = new CalcView(below.base(), Expressions.substitute(side.columns(), columns), filters);
        }
        boolean same =
                rows.base().equals(ofAggregate.base()) && rows.conditions().containsAll(ofAggregate.conditions());
        return same ? Optional.of(rows) : Optional.empty();
    }

    /** 0 for the start, 1 for the end. */
    private Column windowColumn(int bound) {
        return new Column(
                width + bound, extremes.schema().type(extremes.schema().size() - 2), false);
    }

    private Column baseColumn(int column) {
        return Nodes.column(ofAggregate.base(), column);
    }

    /** Writes the join's condition over the WindowExtreme's columns and strikes out what it implies. */
    private boolean condition(
            Join join, boolean extremeOnRight, CalcView rows, CalcView extremeSide, Inference inference) {
        List<Expression> fromExtremes = extremeOutput();
        Column extremeValue = (Column) fromExtremes.get(keys.size());
        List<Expression> ofExtremes = Expressions.substitute(extremeSide.columns(), fromExtremes);
        List<Expression> left = extremeOnRight ? rows.columns() : ofExtremes;
        List<Expression> right = extremeOnRight ? ofExtremes : rows.columns();
        List<Expression> both = new ArrayList<>(left);
        both.addAll(right);

        List<Expression> pending = new ArrayList<>();
        for (int key = 0; key < join.leftKeys().size(); key++) {
            pending.add(Expressions.test(
                    "eq",
                    left.get(join.leftKeys().get(key)),
                    right.get(join.rightKeys().get(key))));
        }
        Expressions.conjuncts(join.residual()).forEach(part -> pending.add(Expressions.substitute(part, both)));

        boolean valueEqual = strike(pending, part -> equatesValue(part, extremeValue));
        boolean valueCompared = strike(pending, part -> comparesValue(part, extremeValue)) || valueEqual;
        List<Column> extremeKeys = keys.stream().map(this::baseColumn).toList();
        boolean keysEqual = extremeKeys.stream().allMatch(key -> strikeKey(pending, key));
        if (!valueCompared || !keysEqual || !findWindow(pending, inference) || closedEnd && !valueEqual) {
            return false;
        }
        conditions.addAll(pending);
        rows.conditions().stream()
                .filter(part -> !ofAggregate.conditions().contains(part))
                .forEach(conditions::add);
        extremeSide.conditions().forEach(part -> conditions.add(unmarked(Expressions.substitute(part, fromExtremes))));
        both.forEach(column -> output.add(unmarked(column)));
        conditions.replaceAll(this::unmarked);
        return true;
    }

    /**
     * What the aggregation gives, over the WindowExtreme's columns. The extreme and the keys are written as columns past
     * the last one, so that a comparison of a row with its window's value is not one of a column with itself.
     */
    private List<Expression> extremeOutput() {
        List<Expression> columns = new ArrayList<>();
        keys.forEach(key -> columns.add(marked(baseColumn(key))));
        columns.add(marked(baseColumn(valueColumn)));
        columns.add(marked(windowColumn(0)));
        columns.add(marked(windowColumn(1)));
        return columns;
    }

    private Column marked(Column column) {
        return new Column(column.index() + width + 2, column.type(), column.nullable());
    }

    private Expression unmarked(Expression expression) {
        return Expressions.renumber(expression, column -> column < width + 2 ? column : column - width - 2);
    }

    private static boolean strike(List<Expression> pending, Predicate<Expression> test) {
        return pending.removeIf(test);
    }

    private boolean equatesValue(Expression part, Column extremeValue) {
        Column value = baseColumn(valueColumn);
        return isCall(part, "eq", value, extremeValue) || isCall(part, "eq", extremeValue, value);
    }

    private boolean comparesValue(Expression part, Column extremeValue) {
        Column value = baseColumn(valueColumn);
        return isCall(part, maximum ? "ge" : "le", value, extremeValue)
                || isCall(part, maximum ? "le" : "ge", extremeValue, value);
    }

    private boolean strikeKey(List<Expression> pending, Column key) {
        boolean equal =
                strike(pending, part -> isCall(part, "eq", key, marked(key)) || isCall(part, "eq", marked(key), key));
        if (equal && key.nullable()) {
            conditions.add(Expressions.isNotNull(key));
        }
        return equal;
    }

    /** Column against column; whether NULLs are possible on either side does not matter here. */
    private static boolean isCall(Expression part, String function, Column left, Column right) {
        return part instanceof Call call
                && call.function().equals(function)
                && call.arguments().get(0) instanceof Column first
                && first.index() == left.index()
                && call.arguments().get(1) instanceof Column second
                && second.index() == right.index();
    }

    private boolean findWindow(List<Expression> pending, Inference inference) {
        if (extremes.window() instanceof WindowSpec.Attached attached) {
            return findAttached(pending, attached, inference);
        }
        window = extremes.window();
        if (assigned) {
            boolean byStart = strikeBound(pending, windowColumn(0), 0);
            boolean byEnd = strikeBound(pending, windowColumn(1), 1);
            return byEnd || byStart && !(window.shape() instanceof WindowSpec.Cumulate);
        }
        boolean from = strike(pending, this::isLowerBound);
        boolean open = strike(pending, part -> isUpperBound(part, "lt", "gt"));
        closedEnd = !open && strike(pending, part -> isUpperBound(part, "le", "ge"));
        return from && (open || closedEnd);
    }

    /** Rows that carry windows: those equated with the aggregation's must be the ones it grouped by. */
    private boolean findAttached(List<Expression> pending, WindowSpec.Attached attached, Inference inference) {
        if (!(ofAggregate.columns().get(attached.startColumn()) instanceof Column start)
                || !(ofAggregate.columns().get(attached.endColumn()) instanceof Column end)) {
            return false;
        }
        window = new WindowSpec.Attached(start.index(), end.index());
        boolean byStart = strikeBound(pending, start, 0);
        boolean byEnd = strikeBound(pending, end, 1);
        Optional<WindowColumns> carried = inference.of(ofAggregate.base()).windowsOf(end.index());
        if (carried.isEmpty()) {
            return false;
        }
        if (carried.get().window() instanceof WindowSpec.Session) {
            // sessions of one end may have several starts
            groupKeys.add(start.index());
            return byEnd && byStart;
        }
        return byEnd || byStart && carried.get().identifiedBy(start.index());
    }

    private boolean strikeBound(List<Expression> pending, Column carried, int bound) {
        Column ofWindow = marked(windowColumn(bound));
        return strike(pending, part -> isCall(part, "eq", carried, ofWindow) || isCall(part, "eq", ofWindow, carried));
    }

    /** {@code time >= window_start}, or {@code time >= window_end - size}. */
    private boolean isLowerBound(Expression part) {
        if (!(part instanceof Call call) || call.arguments().size() != 2) {
            return false;
        }
        boolean straight = call.function().equals("ge");
        if (!straight && !call.function().equals("le")) {
            return false;
        }
        Expression time = call.arguments().get(straight ? 0 : 1);
        Expression bound = call.arguments().get(straight ? 1 : 0);
        return isTime(time) && (isBound(bound, 0) || isEndMinusSize(bound));
    }

    private boolean isUpperBound(Expression part, String straight, String mirrored) {
        if (!(part instanceof Call call) || call.arguments().size() != 2) {
            return false;
        }
        Expression first = call.arguments().get(0);
        Expression second = call.arguments().get(1);
        return call.function().equals(straight) && isTime(first) && isBound(second, 1)
                || call.function().equals(mirrored) && isTime(second) && isBound(first, 1);
    }

    private boolean isTime(Expression expression) {
        return expression instanceof Column column && column.index() == timeColumn;
    }

    private boolean isBound(Expression expression, int bound) {
        return expression instanceof Column column
                && column.index() == marked(windowColumn(bound)).index();
    }

    private boolean isEndMinusSize(Expression expression) {
        return expression instanceof Call call
                && call.function().equals("subtract")
                && isBound(call.arguments().get(0), 1)
                && call.arguments().get(1) instanceof Literal literal
                && literal.value() instanceof IntervalValue interval
                && interval.months() == 0
                && (interval.days() == 0 || isWithoutZone())
                && interval.comparableMicros() == size();
    }

    /** A day is 24 hours, and windows of days are as long, when no zone shifts its clocks. */
    private boolean isWithoutZone() {
        return windowColumn(1).type().equals(DataType.TIMESTAMP);
    }

    private long size() {
        if (window instanceof WindowSpec.Tumble tumble) {
            return tumble.sizeMicros();
        }
        return window instanceof WindowSpec.Hop hop ? hop.sizeMicros() : -1;
    }

    PlanNode result() {
        PlanNode rows = ofAggregate.filteredBase();
        PlanNode extreme =
                Nodes.windowExtreme(rows, timeColumn, window, groupKeys, valueColumn, maximum, closedEnd, Phase.SINGLE);
        return Nodes.calc(extreme, Expressions.and(conditions), output);
    }
}
