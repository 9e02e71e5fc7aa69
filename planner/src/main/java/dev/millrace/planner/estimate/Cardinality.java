package dev.millrace.planner.estimate;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.tree.Expressions;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * Estimates how many rows nodes give and how many values their columns have. One per planning, on its thread; remembers what
 * it estimated by node.
 *
 * <p>What joins give follows the classes of equal columns (containment: the values of the side that has fewer are among those
 * of the other), see P. G. Selinger et al., "Access Path Selection in a Relational Database Management System" (1979).
 */
public final class Cardinality {
    /** Of a relation whose rows nobody counted: a file or a stream. */
    private static final double ASSUMED_ROWS = 10_000;

    /** Of a stream that goes on: sooner or later it is larger than what is joined with it. */
    private static final double ASSUMED_ENDLESS_ROWS = 1_000_000;

    private static final double MOST = 1e250; // rows of anything: products with fractions are numbers still
    private static final double ASSUMED_ROWS_PER_VALUE = 10;
    private static final double UNFOLDED = 4;
    private static final double PARTNER = 0.8;
    private static final double LEAST = 0.05;

    private final Function<String, RelationStatistics> relations;
    private final Function<String, List<Integer>> primaryKeys;
    private final Map<PlanNode, Double> known = new IdentityHashMap<>();

    /** @param primaryKeys the columns that identify a relation's row; empty when there are none */
    public Cardinality(Function<String, RelationStatistics> relations, Function<String, List<Integer>> primaryKeys) {
        this.relations = relations;
        this.primaryKeys = primaryKeys;
    }

    /** Whether the rows of a relation are counted. */
    public boolean isCounted(String relation) {
        return relations.apply(relation).rows().isPresent();
    }

    /** Whether anything is known of how many rows a relation has: they are counted, or it is a stream that goes on. */
    public boolean isKnown(String relation) {
        return isCounted(relation) || rowsSoFar(relation).isPresent();
    }

    /** How many rows a stream that goes on has given. */
    public OptionalLong rowsSoFar(String relation) {
        return relations.apply(relation).rowsSoFar();
    }

    /**
     * How many rows a node gives: a number however deep guesses are multiplied; at least 1, so that what is joined with it
     * still counts.
     */
    public double rows(PlanNode node) {
        Double rows = known.get(node);
        if (rows == null) {
            double estimate = estimate(node);
            rows = estimate < 1 ? 1 : bounded(estimate);
            known.put(node, rows);
        }
        return rows;
    }

    private static double bounded(double rows) {
        return rows < MOST ? rows : MOST;
    }

    private double ofRelation(String relation) {
        RelationStatistics statistics = relations.apply(relation);
        if (statistics.rows().isPresent()) {
            return statistics.rows().getAsLong();
        }
        return statistics.rowsSoFar().isPresent()
                ? Math.max(ASSUMED_ENDLESS_ROWS, statistics.rowsSoFar().getAsLong())
                : ASSUMED_ROWS;
    }

    private double estimate(PlanNode node) {
        if (node instanceof PlanNode.Scan scan) {
            return ofRelation(scan.relation());
        } else if (node instanceof PlanNode.Values values) {
            return values.rows().size();
        } else if (node instanceof PlanNode.Calc calc) {
            double all = rows(calc.input());
            return calc.condition().isEmpty()
                    ? all
                    : all * new Selectivity(this, calc.input()).of(Expressions.conjuncts(calc.condition()));
        } else if (node instanceof PlanNode.Aggregate aggregate) {
            return groups(aggregate.input(), aggregate.keys());
        } else if (node instanceof PlanNode.WindowAggregate aggregate) {
            return groups(aggregate.input(), aggregate.keys());
        } else if (node instanceof PlanNode.TopN topN) {
            double best = (double) topN.limit() * groups(topN.input(), topN.partition());
            return topN.limit() > 0 ? Math.min(rows(topN.input()), best) : rows(topN.input());
        } else if (node instanceof PlanNode.Sort sort) {
            return sort.limit() >= 0 ? Math.min(rows(sort.input()), sort.limit()) : rows(sort.input());
        } else if (node instanceof Join join) {
            return ofJoin(join);
        } else if (node instanceof PlanNode.MultiJoin join) {
            return ofMultiJoin(join);
        } else if (node instanceof PlanNode.Union union) {
            return union.inputs().stream().mapToDouble(this::rows).sum();
        } else if (node instanceof PlanNode.Expand expand) {
            return UNFOLDED * rows(expand.input());
        }
        return rows(node.inputs().get(0));
    }

    /** How many values some columns of a node have together. */
    double groups(PlanNode input, List<Integer> keys) {
        double groups = 1;
        for (int key : keys) {
            groups *= distinct(input, key);
        }
        return Math.min(groups, rows(input));
    }

    private double ofJoin(Join join) {
        double left = rows(join.left());
        double right = rows(join.right());
        if (join.kind() == JoinKind.SEMI || join.kind() == JoinKind.ANTI) {
            return left * kept(join);
        }
        if (join.time().isPresent()) {
            return Math.max(left, right);
        }
        double matching = bounded(left * right);
        int width = join.left().schema().size();
        List<Double> equalities = new ArrayList<>();
        for (int i = 0; i < join.leftKeys().size(); i++) {
            equalities.add(values(join, join.leftKeys().get(i), join.rightKeys().get(i)));
        }
        for (Expression conjunct : Expressions.conjuncts(join.residual())) {
            Optional<int[]> columns = equality(conjunct, width);
            if (columns.isPresent()) {
                equalities.add(values(join, columns.get()[0], columns.get()[1] - width));
            } else {
                matching *= PARTNER;
            }
        }
        double values = 1;
        for (double equality : equalities) {
            values *= equality;
        }
        // Of keys of several columns not every combination of values is there.
        matching /= equalities.size() > 1 ? Math.min(values, Math.max(left, right)) : values;
        return switch (join.kind()) {
            case LEFT -> Math.max(matching, left);
            case RIGHT -> Math.max(matching, right);
            case FULL -> Math.max(matching, left + right);
            default -> matching;
        };
    }

    /** How many values a pair of equal columns has: as many as the richer one, where no guess stands against knowledge. */
    private double values(Join join, int left, int right) {
        boolean leftKnown = isDistinctKnown(join.left(), left);
        boolean rightKnown = isDistinctKnown(join.right(), right);
        if (leftKnown == rightKnown) {
            return Math.max(distinct(join.left(), left), distinct(join.right(), right));
        }
        // A column of which nothing is known refers to the other, whatever is left of that.
        return leftKnown ? ofRelation(join.left(), left) : ofRelation(join.right(), right);
    }

    private double ofRelation(PlanNode node, int column) {
        Origin origin = origin(node, column).orElseThrow();
        return ofRelation(origin, rows(origin.scan));
    }

    private double ofMultiJoin(PlanNode.MultiJoin join) {
        double rows = 1;
        for (int input = 0; input < join.inputs().size(); input++) {
            PlanNode node = join.inputs().get(input);
            double values = groups(node, join.keys().get(input));
            rows *= rows(node) / (input == 0 ? 1 : values);
        }
        return rows;
    }

    /** The fraction of the left rows that a SEMI or ANTI join keeps. */
    public double kept(Join join) {
        int width = join.left().schema().size();
        double partners = 1;
        for (int i = 0; i < join.leftKeys().size(); i++) {
            partners = Math.min(
                    partners,
                    distinct(join.right(), join.rightKeys().get(i))
                            / distinct(join.left(), join.leftKeys().get(i)));
        }
        for (Expression conjunct : Expressions.conjuncts(join.residual())) {
            Optional<int[]> columns = equality(conjunct, width);
            partners = columns.isPresent()
                    ? Math.min(
                            partners,
                            distinct(join.right(), columns.get()[1] - width) / distinct(join.left(), columns.get()[0]))
                    : partners * PARTNER;
        }
        return Math.max(LEAST, join.kind() == JoinKind.SEMI ? partners : 1 - partners);
    }

    /** The columns of an equality of a left column with a right one. */
    private static Optional<int[]> equality(Expression conjunct, int width) {
        if (!(conjunct instanceof Call call)
                || !call.function().equals("eq")
                || !(call.arguments().get(0) instanceof Column a)
                || !(call.arguments().get(1) instanceof Column b)) {
            return Optional.empty();
        }
        int left = Math.min(a.index(), b.index());
        int right = Math.max(a.index(), b.index());
        return left < width && right >= width ? Optional.of(new int[] {left, right}) : Optional.empty();
    }

    /** How many values a column of a node has; at least 1. */
    public double distinct(PlanNode node, int column) {
        double rows = rows(node);
        Optional<Origin> origin = origin(node, column);
        if (origin.isEmpty()) {
            return rows;
        }
        double all = rows(origin.get().scan);
        double values = ofRelation(origin.get(), all);
        if (rows >= all) {
            return Math.max(1, Math.min(values, rows));
        }
        // Each value is gone when all its rows are.
        double left = values * (1 - Math.pow(1 - rows / all, all / values));
        return Math.max(1, Math.min(left, rows));
    }

    /** Whether {@link #distinct} is no mere guess: the column is a key, or has a sketch. */
    public boolean isDistinctKnown(PlanNode node, int column) {
        return origin(node, column)
                .filter(origin -> isKey(origin) || origin.statistics(relations).isPresent())
                .isPresent();
    }

    private boolean isKey(Origin origin) {
        return isCounted(origin.scan.relation())
                && primaryKeys.apply(origin.scan.relation()).equals(List.of(origin.column));
    }

    private double ofRelation(Origin origin, double rows) {
        List<Integer> key = primaryKeys.apply(origin.scan.relation());
        if (key.equals(List.of(origin.column))) {
            return rows;
        }
        return origin.statistics(relations)
                .map(statistics -> Math.min(rows, statistics.distinct()))
                .orElse(Math.max(Math.min(rows, ASSUMED_ROWS_PER_VALUE), rows / ASSUMED_ROWS_PER_VALUE));
    }

    /** What is known of the relation's column that a node's column is. */
    Optional<ColumnStatistics> statistics(PlanNode node, int column) {
        return origin(node, column).flatMap(origin -> origin.statistics(relations));
    }

    /** A column of a relation. */
    private record Origin(PlanNode.Scan scan, int column) {
        Optional<ColumnStatistics> statistics(Function<String, RelationStatistics> relations) {
            return relations.apply(scan.relation()).column(column);
        }
    }

    private static Optional<Origin> origin(PlanNode from, int of) {
        PlanNode node = from;
        int column = of;
        while (true) {
            if (node instanceof PlanNode.Scan scan) {
                return Optional.of(new Origin(scan, scan.columns().get(column)));
            } else if (node instanceof PlanNode.Calc calc) {
                if (!(calc.projections().get(column) instanceof Column below)) {
                    return Optional.empty();
                }
                column = below.index();
                node = calc.input();
            } else if (node instanceof Join join) {
                int width = join.left().schema().size();
                node = column < width ? join.left() : join.right();
                column -= column < width ? 0 : width;
            } else if (node instanceof PlanNode.Aggregate aggregate) {
                if (column >= aggregate.keys().size()) {
                    return Optional.empty();
                }
                column = aggregate.keys().get(column);
                node = aggregate.input();
            } else if (node instanceof PlanNode.SameColumns same) {
                node = same.input();
            } else if (node instanceof PlanNode.TopN || node instanceof PlanNode.Over) {
                PlanNode input = node.inputs().get(0);
                if (column >= input.schema().size()) {
                    return Optional.empty();
                }
                node = input;
            } else {
                return Optional.empty();
            }
        }
    }
}
