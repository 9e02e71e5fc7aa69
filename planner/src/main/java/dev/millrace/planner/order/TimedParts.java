package dev.millrace.planner.order;

import dev.millrace.plan.expression.Expression;
import dev.millrace.planner.order.JoinGraph.EqualColumns;
import dev.millrace.planner.order.JoinGraph.Member;
import dev.millrace.planner.order.JoinGraph.Predicate;
import dev.millrace.planner.order.JoinTree.Pair;
import dev.millrace.planner.tree.Expressions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What stays in the order written in a standing query: the smallest part of it that holds two streams whose times a condition
 * compares. It may become a join of windows or within bounds of time, which lets rows go, and which rows are late for it is
 * part of the answer.
 */
final class TimedParts {
    private final List<Long> together = new ArrayList<>();

    /** @param endless the members that are streams: their rows only come */
    TimedParts(JoinGraph graph, long endless) {
        for (Predicate predicate : graph.predicates()) {
            add(predicate.members(), endless, readsTime(predicate.condition()));
        }
        for (EqualColumns equal : graph.classes()) {
            add(equal.members(), endless, isTime(graph.column(equal.columns().get(0))));
        }
        for (int number = 0; number < graph.members().size(); number++) {
            Member member = graph.member(number);
            add(
                    member.needs() | 1L << number,
                    endless,
                    member.condition().filter(TimedParts::readsTime).isPresent());
        }
    }

    private void add(long members, long endless, boolean timed) {
        if (timed && Long.bitCount(members & endless) > 1) {
            together.add(members);
        }
    }

    private static boolean readsTime(Expression condition) {
        return Expressions.any(condition, TimedParts::isTime);
    }

    private static boolean isTime(Expression part) {
        return part instanceof Expression.Column column
                && switch (column.type().kind()) {
                    case DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> true;
                    default -> false;
                };
    }

    /** What may be joined in any order: the parts that stay, and the members outside of them. */
    List<JoinTree> units(JoinTree written) {
        List<JoinTree> units = new ArrayList<>();
        split(written, units);
        return units;
    }

    private void split(JoinTree tree, List<JoinTree> into) {
        Optional<Pair> apart = tree instanceof Pair pair && mayPart(pair) ? Optional.of(pair) : Optional.empty();
        if (apart.isEmpty()) {
            into.add(tree);
            return;
        }
        split(apart.get().left(), into);
        split(apart.get().right(), into);
    }

    private boolean mayPart(Pair pair) {
        long left = pair.left().members();
        long right = pair.right().members();
        return together.stream()
                .noneMatch(part -> (part & left) != 0 && (part & right) != 0 && (part & ~(left | right)) == 0);
    }

    /** Every member by itself. */
    static List<JoinTree> none(JoinTree written) {
        List<JoinTree> units = new ArrayList<>();
        leaves(written, units);
        return units;
    }

    private static void leaves(JoinTree tree, List<JoinTree> into) {
        if (tree instanceof Pair pair) {
            leaves(pair.left(), into);
            leaves(pair.right(), into);
        } else {
            into.add(tree);
        }
    }
}
