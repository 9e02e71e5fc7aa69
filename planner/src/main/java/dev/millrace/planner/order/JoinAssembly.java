package dev.millrace.planner.order;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.order.JoinGraph.EqualColumns;
import dev.millrace.planner.order.JoinGraph.Member;
import dev.millrace.planner.order.JoinGraph.Predicate;
import dev.millrace.planner.order.JoinTree.Leaf;
import dev.millrace.planner.order.JoinTree.Pair;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Makes a plan of a graph and the order chosen for it. Each condition is asked where all its columns first are together. */
final class JoinAssembly {
    private final JoinGraph graph;

    JoinAssembly(JoinGraph graph) {
        this.graph = graph;
    }

    /**
     * Rows of some members.
     *
     * @param positions where each column of the graph is among the node's, -1 for those that it has not
     */
    record Part(PlanNode node, int[] positions, long members) {
        Expression renumber(Expression expression) {
            return Expressions.renumber(expression, column -> positions[column]);
        }
    }

    Part part(JoinTree tree) {
        if (tree instanceof Leaf leaf) {
            int[] positions = none();
            place(graph.member(leaf.member()), 0, positions);
            return new Part(graph.filtered(leaf.member()), positions, leaf.members());
        }
        Pair pair = (Pair) tree;
        Part left = part(pair.left());
        if (pair.right() instanceof Leaf leaf && graph.member(leaf.member()).reduces()) {
            Member reducer = graph.member(leaf.member());
            int[] positions = left.positions.clone();
            place(reducer, left.node.schema().size(), positions);
            return new Part(reduced(left.node, reducer, positions), left.positions, pair.members());
        }
        Part right = part(pair.right());
        int[] positions = left.positions.clone();
        int width = left.node.schema().size();
        for (int column = 0; column < positions.length; column++) {
            if (right.positions[column] >= 0) {
                positions[column] = width + right.positions[column];
            }
        }
        List<Expression> conditions = new ArrayList<>();
        for (EqualColumns equal : graph.classes()) {
            OptionalInt ofLeft = first(equal, left);
            OptionalInt ofRight = first(equal, right);
            if (ofLeft.isPresent() && ofRight.isPresent()) {
                conditions.add(
                        Expressions.test("eq", graph.column(ofLeft.getAsInt()), graph.column(ofRight.getAsInt())));
            }
        }
        for (Predicate predicate : graph.predicates()) {
            boolean here = (predicate.members() & ~pair.members()) == 0
                    && (predicate.members() & ~left.members) != 0
                    && (predicate.members() & ~right.members) != 0;
            if (here) {
                conditions.add(predicate.condition());
            }
        }
        List<Expression> placed = conditions.stream()
                .map(condition -> Expressions.renumber(condition, column -> positions[column]))
                .toList();
        PlanNode joined = Nodes.join(
                left.node, right.node, JoinKind.INNER, List.of(), List.of(), Expressions.and(placed), Optional.empty());
        return new Part(joined, positions, pair.members());
    }

    /** A reducer's join with what has all columns that its condition reads. */
    static PlanNode.Join reduced(PlanNode left, Member reducer, int[] positions) {
        return Nodes.join(
                left,
                reducer.node(),
                reducer.kind(),
                List.of(),
                List.of(),
                reducer.condition().map(condition -> Expressions.renumber(condition, column -> positions[column])),
                Optional.empty());
    }

    private static OptionalInt first(EqualColumns equal, Part part) {
        return equal.columns().stream()
                .mapToInt(Integer::intValue)
                .filter(column -> part.positions[column] >= 0)
                .findFirst();
    }

    private int[] none() {
        int[] positions = new int[graph.width()];
        Arrays.fill(positions, -1);
        return positions;
    }

    private static void place(Member member, int at, int[] positions) {
        for (int column = 0; column < member.node().schema().size(); column++) {
            positions[member.first() + column] = at + column;
        }
    }
}
