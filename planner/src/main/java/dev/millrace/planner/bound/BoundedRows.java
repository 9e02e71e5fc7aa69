package dev.millrace.planner.bound;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.bound.Known.Interval;
import dev.millrace.planner.bound.Known.Verdict;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * The rows of a node with what is known of them beside them: the node's columns come first, in their order.
 *
 * @param width how many columns the node has
 * @param columns what is known of each, over the columns behind; empty where it is exact
 * @param members which rows there are
 */
record BoundedRows(PlanNode plan, int width, List<Optional<Known>> columns, Members members) {
    /** Which of the rows are in the true relation, and in the one that is shown. */
    sealed interface Members {
        /** All, in both. */
        record All() implements Members {}

        /** All that may be in either; two BOOLEAN columns, never NULL, say which are shown, and which are in the true one for certain. */
        record Some(int shown, int certain) implements Members {}

        /** These are shown; which there should be is not known. */
        record Unknown() implements Members {}
    }

    static final Members ALL = new Members.All();
    static final Members UNKNOWN = new Members.Unknown();

    BoundedRows {
        columns = List.copyOf(columns);
    }

    /** Rows that are what they are shown as. */
    static BoundedRows exact(PlanNode plan) {
        return new BoundedRows(
                plan,
                plan.schema().size(),
                IntStream.range(0, plan.schema().size())
                        .mapToObj(column -> Optional.<Known>empty())
                        .toList(),
                ALL);
    }

    /** Rows of which nothing is known. */
    static BoundedRows nothing(PlanNode plan) {
        return new BoundedRows(
                plan,
                plan.schema().size(),
                plan.schema().fields().stream()
                        .map(field -> Optional.of(Known.nothing(field.type())))
                        .toList(),
                UNKNOWN);
    }

    boolean isExact() {
        return members.equals(ALL) && columns.stream().allMatch(Optional::isEmpty);
    }

    boolean isExact(int column) {
        return columns.get(column).isEmpty();
    }

    RowBounds row() {
        return new RowBounds(columns);
    }

    Expression column(int index) {
        return Nodes.column(plan, index);
    }

    /** Whether a row is shown. */
    Expression shown() {
        return members instanceof Members.Some some ? column(some.shown()) : Expressions.literal(true);
    }

    /** Whether a row is in the true relation for certain. */
    Expression certain() {
        return members instanceof Members.Some some ? column(some.certain()) : Expressions.literal(members.equals(ALL));
    }

    /** The rows and columns of the node, as they are shown. */
    PlanNode asShown() {
        List<Expression> own = IntStream.range(0, width).mapToObj(this::column).toList();
        if (members instanceof Members.Some some) {
            return Nodes.calc(plan, Optional.of(column(some.shown())), own);
        }
        return width == plan.schema().size() ? plan : Nodes.project(plan, own);
    }

    /** The rows that are shown, with what is known of their values: what other rows there should be is forgotten. */
    BoundedRows onlyShown() {
        return members instanceof Members.Some some
                ? of(
                        plan,
                        Optional.of(column(some.shown())),
                        IntStream.range(0, width).mapToObj(this::column).toList(),
                        columns,
                        UNKNOWN,
                        List.of())
                : this;
    }

    /**
     * Rows computed of others, with what is known of them put behind.
     *
     * @param known of each of the projections, over {@code input}
     * @param members which is {@code Some} if {@code ofMembers} are given, whatever it says
     * @param ofMembers over {@code input}, whether a row is shown, and whether it is there for certain
     */
    static BoundedRows of(
            PlanNode input,
            Optional<Expression> condition,
            List<Expression> projections,
            List<Optional<Known>> known,
            Members members,
            List<Expression> ofMembers) {
        List<Expression> all = new ArrayList<>(projections);
        List<Optional<Known>> columns = new ArrayList<>();
        for (Optional<Known> of : known) {
            columns.add(of.map(what -> what instanceof Interval interval
                    ? new Interval(put(interval.low(), all), put(interval.high(), all), interval.mayBeNull())
                    : kept((Verdict) what, all)));
        }
        Members placed = members;
        if (!ofMembers.isEmpty()) {
            placed = new Members.Some(all.size(), all.size() + 1);
            all.addAll(ofMembers);
        }
        return new BoundedRows(Nodes.calc(input, condition, all), projections.size(), columns, placed);
    }

    private static Verdict kept(Verdict of, List<Expression> into) {
        return new Verdict(
                put(of.mayBeTrue(), into), put(of.isTrue(), into), put(of.mayBeFalse(), into), put(of.isFalse(), into));
    }

    /** The column that has the value; constants need none. */
    private static Expression put(Expression value, List<Expression> into) {
        if (value instanceof Literal || value instanceof Expression.Null) {
            return value;
        }
        into.add(value);
        return new Column(into.size() - 1, value.type(), value.nullable());
    }

    /** The same columns, known of by expressions whose columns are renumbered. */
    static Optional<Known> moved(Optional<Known> known, IntUnaryOperator place) {
        return known.map(what -> what instanceof Interval interval
                ? new Interval(
                        Expressions.renumber(interval.low(), place),
                        Expressions.renumber(interval.high(), place),
                        interval.mayBeNull())
                : moved((Verdict) what, place));
    }

    private static Verdict moved(Verdict verdict, IntUnaryOperator place) {
        return new Verdict(
                Expressions.renumber(verdict.mayBeTrue(), place),
                Expressions.renumber(verdict.isTrue(), place),
                Expressions.renumber(verdict.mayBeFalse(), place),
                Expressions.renumber(verdict.isFalse(), place));
    }
}
