package dev.millrace.planner.order;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.estimate.Cardinality;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.fact.UniqueKey;
import dev.millrace.planner.order.JoinTree.Leaf;
import dev.millrace.planner.order.JoinTree.Pair;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Joins relations in the order that costs least by what is known of their sizes:
 *
 * <pre>
 * Calc(where c = o and o2 = l and r = 'ASIA')    becomes    Join(o2 = l)
 *   Join                                                      lineitem
 *     Join                                                    Join(c = o)
 *       orders                                                  orders
 *       lineitem                                                Calc(where r = 'ASIA')
 *     customer                                                    customer
 * </pre>
 *
 * Inner joins that stand upon each other, conditions and choices of columns between them, and the SEMI and ANTI joins among
 * them are one graph; all else (outer joins, aggregations, joins in time, what two nodes read) is a member of it as it is.
 * Conditions on one of equal columns are asked of all. What is volatile stays where it was written. The order written stays
 * where it costs hardly more, and where nothing is known of any relation's rows. In standing queries streams that are joined
 * by their times stay joined as they are written: that may be what lets their rows go.
 */
public final class JoinOrder {
    private static final double WORTH_IT = 0.95;
    private static final int MOST_MEMBERS = 60; // bits of a long

    private final Cardinality cardinality;
    private final UniqueKey uniqueKeys;
    private final Inference inference;
    private final Map<PlanNode, PlanNode> done = new IdentityHashMap<>();
    private final Map<PlanNode, Integer> readers = new IdentityHashMap<>();

    private JoinOrder(Cardinality cardinality, UniqueKey uniqueKeys, Inference inference) {
        this.cardinality = cardinality;
        this.uniqueKeys = uniqueKeys;
        this.inference = inference;
    }

    /**
     * The plan with its joins in order.
     *
     * @param plan as it was translated: conditions are above joins still, or are a join's residual
     */
    public static PlanNode choose(PlanNode plan, Cardinality cardinality, UniqueKey uniqueKeys, Inference inference) {
        JoinOrder order = new JoinOrder(cardinality, uniqueKeys, inference);
        for (PlanNode node : Subplans.of(plan)) {
            node.inputs().forEach(input -> order.readers.merge(input, 1, Integer::sum));
        }
        return order.ordered(plan);
    }

    private PlanNode ordered(PlanNode node) {
        PlanNode known = done.get(node);
        if (known == null) {
            known = orderedAnew(node);
            done.put(node, known);
        }
        return known;
    }

    private PlanNode orderedAnew(PlanNode node) {
        boolean root = isGraph(node) || node instanceof Calc calc && isPart(calc.input()) && !isVolatile(calc);
        if (root) {
            return new Graph().best(node).orElseGet(() -> asWritten(node));
        }
        return overOrdered(node);
    }

    private PlanNode overOrdered(PlanNode node) {
        return Nodes.withInputs(node, node.inputs().stream().map(this::ordered).toList());
    }

    /** The joins of a graph as they are, what they join in order: parts of a graph do not know the conditions above them. */
    private PlanNode asWritten(PlanNode node) {
        if (node instanceof Calc calc) {
            return Nodes.withInputs(calc, List.of(asWritten(calc.input())));
        }
        if (!(node instanceof Join join)) {
            return ordered(node);
        }
        PlanNode right = join.kind() == JoinKind.INNER ? member(join.right()) : ordered(join.right());
        return Nodes.withInputs(join, List.of(member(join.left()), right));
    }

    private PlanNode member(PlanNode node) {
        return isPart(node) ? asWritten(node) : ordered(node);
    }

    /** Whether a node is of the same graph as the only one that reads it. */
    private boolean isPart(PlanNode node) {
        if (readers.getOrDefault(node, 1) > 1) {
            return false;
        }
        return isGraph(node)
                || node instanceof Calc calc
                        && isPart(calc.input())
                        && !isVolatile(calc)
                        && calc.projections().stream().allMatch(Column.class::isInstance);
    }

    private static boolean isVolatile(Calc calc) {
        return calc.condition().filter(Expressions::isVolatile).isPresent()
                || calc.projections().stream().anyMatch(Expressions::isVolatile);
    }

    /** Whether a node is a join that may be reordered with others. */
    private static boolean isGraph(PlanNode node) {
        return node instanceof Join join
                && (join.kind() == JoinKind.INNER || join.kind() == JoinKind.SEMI || join.kind() == JoinKind.ANTI)
                && join.time().isEmpty()
                && join.leftKeys().isEmpty()
                && join.residual().filter(Expressions::isVolatile).isEmpty();
    }

    /** One graph as it is collected, with the order in which it is written. */
    private final class Graph {
        private final JoinGraph graph = new JoinGraph();
        private JoinTree written = new Leaf(0);
        private boolean tooLarge;

        /** What a node gives, its joins in a better order than written, if there is one. */
        Optional<PlanNode> best(PlanNode node) {
            int[] columns;
            List<Expression> projections = new ArrayList<>();
            if (node instanceof Calc calc) {
                columns = collect(calc.input());
                addCondition(calc.condition(), columns);
                calc.projections()
                        .forEach(projection ->
                                projections.add(Expressions.renumber(projection, column -> columns[column])));
            } else {
                columns = collectJoin((Join) node);
                for (int column : columns) {
                    projections.add(graph.column(column));
                }
            }
            return better(projections);
        }

        private void addCondition(Optional<Expression> condition, int[] columns) {
            condition.ifPresent(part -> graph.addCondition(Expressions.renumber(part, column -> columns[column])));
        }

        /** Adds what a node gives; the numbers of its columns in the graph. */
        private int[] collect(PlanNode node) {
            if (isPart(node) && node instanceof Join join) {
                return collectJoin(join);
            }
            if (isPart(node) && node instanceof Calc calc) {
                int[] below = collect(calc.input());
                addCondition(calc.condition(), below);
                return calc.projections().stream()
                        .mapToInt(projection -> below[((Column) projection).index()])
                        .toArray();
            }
            PlanNode factor = ordered(node);
            int first = graph.addFactor(factor);
            written = new Leaf(checked(graph.members().size() - 1));
            int[] columns = new int[factor.schema().size()];
            for (int column = 0; column < columns.length; column++) {
                columns[column] = first + column;
            }
            return columns;
        }

        private int checked(int member) {
            tooLarge |= member >= MOST_MEMBERS;
            return Math.min(member, MOST_MEMBERS);
        }

        private int[] collectJoin(Join join) {
            int[] left = collect(join.left());
            JoinTree ofLeft = written;
            if (join.kind() != JoinKind.INNER) {
                PlanNode reducer = ordered(join.right());
                int first = graph.width();
                Optional<Expression> condition = join.residual()
                        .map(residual -> Expressions.renumber(
                                residual,
                                column -> column < left.length ? left[column] : first + column - left.length));
                graph.addReducer(reducer, join.kind(), condition);
                written = new Pair(ofLeft, new Leaf(checked(graph.members().size() - 1)));
                return left;
            }
            int[] right = collect(join.right());
            written = new Pair(ofLeft, written);
            int[] both = new int[left.length + right.length];
            System.arraycopy(left, 0, both, 0, left.length);
            System.arraycopy(right, 0, both, left.length, right.length);
            join.residual()
                    .ifPresent(residual -> graph.addCondition(Expressions.renumber(residual, column -> both[column])));
            return both;
        }

        /** The graph in a better order than written, if there is one. */
        Optional<PlanNode> better(List<Expression> projections) {
            if (tooLarge || graph.members().size() < 2 || !isKnown()) {
                return Optional.empty();
            }
            graph.sortConditions();
            List<JoinTree> units = inference.finite() ? TimedParts.none(written) : timed().units(written);
            if (units.size() < 2) {
                return Optional.empty();
            }
            JoinSizes sizes = new JoinSizes(graph, cardinality, uniqueKeys);
            JoinEnumeration enumeration = new JoinEnumeration(graph, sizes, units, !inference.finite());
            JoinTree best = enumeration.best();
            boolean worthIt = graph.hasInferred()
                    || enumeration.crosses(written) && !enumeration.crosses(best)
                    || enumeration.cost(best) < WORTH_IT * enumeration.cost(written);
            if (!worthIt) {
                return Optional.empty();
            }
            JoinAssembly.Part part = new JoinAssembly(graph).part(best);
            return Optional.of(Nodes.calc(
                    part.node(),
                    Expressions.and(graph.constants()),
                    projections.stream().map(part::renumber).toList()));
        }

        private TimedParts timed() {
            long endless = 0;
            for (int member = 0; member < graph.members().size(); member++) {
                PlanNode node = graph.member(member).node();
                endless |= inference.of(node).appendOnly() && !isConstant(node) ? 1L << member : 0;
            }
            return new TimedParts(graph, endless);
        }

        /** Whether anything is known of the rows of what is joined. */
        private boolean isKnown() {
            return graph.members().stream()
                    .flatMap(member -> Subplans.of(member.node()).stream())
                    .anyMatch(below -> below instanceof PlanNode.Scan scan
                            && (inference.finite()
                                    ? cardinality.isCounted(scan.relation())
                                    : cardinality.isKnown(scan.relation())));
        }

        private boolean isConstant(PlanNode node) {
            return Subplans.of(node).stream().noneMatch(PlanNode.Scan.class::isInstance);
        }
    }
}
