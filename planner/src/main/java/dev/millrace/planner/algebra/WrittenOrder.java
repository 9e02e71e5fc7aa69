package dev.millrace.planner.algebra;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import dev.millrace.planner.tree.Rewriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Joins inner-joined relations in an order in which each has an equality with those before it, where the order written has
 * a cross product in the middle and another has not:
 *
 * <pre>
 * Calc(where p = lp and s = ls)    becomes    Calc(p, s, lp, ls)
 *   Join                                        Join(s = ls)
 *     Join                                        Join(p = lp)
 *       part                                        part
 *       supplier                                    lineitem
 *     lineitem                                    supplier
 * </pre>
 *
 * Otherwise the order written stays: nothing is known of sizes, and the user may.
 */
final class WrittenOrder implements Rewrite {
    private WrittenOrder() {}

    /** To be called before conditions move into joins and Calcs come between them. */
    static PlanNode choose(PlanNode plan) {
        return Rewriter.rewrite(plan, new WrittenOrder());
    }

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (node instanceof Calc calc && calc.input() instanceof Join join && isInner(join)) {
            return reordered(join, calc.condition())
                    .map(joined -> Nodes.calc(joined, Optional.empty(), calc.projections()));
        }
        return node instanceof Join join && isInner(join) ? reordered(join, Optional.empty()) : Optional.empty();
    }

    private static boolean isInner(Join join) {
        return join.kind() == JoinKind.INNER
                && join.time().isEmpty()
                && join.leftKeys().isEmpty();
    }

    /** All columns of the join in their order, those rows alone that pass; empty when the order should stay. */
    private static Optional<PlanNode> reordered(Join join, Optional<Expression> condition) {
        Factors factors = new Factors();
        factors.collect(join, 0);
        factors.conjuncts.addAll(Expressions.conjuncts(condition));
        List<Integer> written = IntStream.range(0, factors.nodes.size()).boxed().toList();
        List<Integer> order = factors.order();
        return factors.crosses(written) <= factors.crosses(order) ? Optional.empty() : Optional.of(factors.join(order));
    }

    /** What is joined, and under which conditions, over the columns of all in the order written. */
    private static final class Factors {
        private final List<PlanNode> nodes = new ArrayList<>();
        private final List<Integer> offsets = new ArrayList<>();
        private final List<Expression> conjuncts = new ArrayList<>();

        void collect(PlanNode node, int offset) {
            if (node instanceof Join join && isInner(join)) {
                collect(join.left(), offset);
                collect(join.right(), offset + join.left().schema().size());
                Expressions.conjuncts(join.residual())
                        .forEach(part -> conjuncts.add(Expressions.renumber(part, column -> column + offset)));
            } else {
                nodes.add(node);
                offsets.add(offset);
            }
        }

        /** The first written, then always the first that an equality connects, or the first at all. */
        List<Integer> order() {
            List<Integer> order = new ArrayList<>(List.of(0));
            while (order.size() < nodes.size()) {
                List<Integer> left = IntStream.range(0, nodes.size())
                        .filter(factor -> !order.contains(factor))
                        .boxed()
                        .toList();
                order.add(left.stream()
                        .filter(factor -> isConnected(factor, order))
                        .findFirst()
                        .orElse(left.get(0)));
            }
            return order;
        }

        /** How many joins of an order are cross products. */
        long crosses(List<Integer> order) {
            return IntStream.range(1, order.size())
                    .filter(i -> !isConnected(order.get(i), order.subList(0, i)))
                    .count();
        }

        private boolean isConnected(int factor, List<Integer> before) {
            BitSet own = columnsOf(List.of(factor));
            BitSet others = columnsOf(before);
            return conjuncts.stream()
                    .filter(part -> Expressions.isCall(part, "eq"))
                    .anyMatch(part -> {
                        List<Expression> sides = ((Call) part).arguments();
                        return within(sides.get(0), own) && within(sides.get(1), others)
                                || within(sides.get(1), own) && within(sides.get(0), others);
                    });
        }

        private BitSet columnsOf(List<Integer> factors) {
            BitSet columns = new BitSet();
            for (int factor : factors) {
                int offset = offsets.get(factor);
                columns.set(offset, offset + nodes.get(factor).schema().size());
            }
            return columns;
        }

        private static boolean within(Expression expression, BitSet columns) {
            BitSet read = Expressions.columns(expression);
            boolean any = !read.isEmpty();
            read.andNot(columns);
            return any && read.isEmpty();
        }

        PlanNode join(List<Integer> order) {
            int[] positions = new int[columnsOf(order).length()];
            Arrays.fill(positions, -1);
            List<Expression> waiting = new ArrayList<>(conjuncts);
            PlanNode joined = place(nodes.get(order.get(0)), order.get(0), 0, positions);
            for (int next : order.subList(1, order.size())) {
                PlanNode factor = place(nodes.get(next), next, joined.schema().size(), positions);
                List<Expression> here = waiting.stream()
                        .filter(part -> Expressions.readsOnly(part, column -> positions[column] >= 0))
                        .toList();
                waiting.removeAll(here);
                List<Expression> moved = here.stream()
                        .map(part -> Expressions.renumber(part, column -> positions[column]))
                        .toList();
                joined = Nodes.join(
                        joined, factor, JoinKind.INNER, List.of(), List.of(), Expressions.and(moved), Optional.empty());
            }
            return Nodes.select(joined, Arrays.stream(positions).boxed().toList());
        }

        private PlanNode place(PlanNode node, int factor, int at, int[] positions) {
            for (int column = 0; column < node.schema().size(); column++) {
                positions[offsets.get(factor) + column] = at + column;
            }
            return node;
        }
    }
}
