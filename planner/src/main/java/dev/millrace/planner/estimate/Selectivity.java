package dev.millrace.planner.estimate;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.plan.node.PlanNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Which fraction of a node's rows passes conditions. Conditions count as independent of each other, but for bounds of one
 * column. Where nothing is known of a column, the fractions are those that database systems have assumed since System R.
 */
final class Selectivity {
    private static final double RANGE = 1.0 / 3;
    private static final double EQUAL = 0.05;
    private static final double PATTERN = 0.05;
    private static final double OTHER = 0.5;

    private final Cardinality cardinality;
    private final PlanNode node;

    Selectivity(Cardinality cardinality, PlanNode node) {
        this.cardinality = cardinality;
        this.node = node;
    }

    /** The fractions of a column's rows below the greatest lower and the least upper bound. */
    private static final class Bounds {
        private double from;
        private double to = 1;
    }

    double of(List<Expression> conjuncts) {
        double passing = 1;
        Map<Integer, Bounds> ranges = new HashMap<>();
        for (Expression conjunct : conjuncts) {
            if (!addBound(conjunct, ranges)) {
                passing *= of(conjunct);
            }
        }
        for (Bounds bounds : ranges.values()) {
            passing *= Math.max(0, bounds.to - bounds.from);
        }
        return Math.min(1, passing);
    }

    private boolean addBound(Expression conjunct, Map<Integer, Bounds> ranges) {
        Optional<Comparison> comparison = comparison(conjunct);
        OptionalDouble below = comparison.isEmpty() ? OptionalDouble.empty() : below(comparison.get());
        if (below.isEmpty()) {
            return false;
        }
        Bounds bounds = ranges.computeIfAbsent(comparison.get().column, column -> new Bounds());
        switch (comparison.get().function) {
            case "lt", "le" -> bounds.to = Math.min(bounds.to, below.getAsDouble());
            case "gt", "ge" -> bounds.from = Math.max(bounds.from, below.getAsDouble());
            default -> {
                return false;
            }
        }
        return true;
    }

    private OptionalDouble below(Comparison comparison) {
        return switch (comparison.function) {
            case "lt", "le", "gt", "ge" ->
                cardinality
                        .statistics(node, comparison.column)
                        .map(column -> column.below(comparison.value.value()))
                        .orElse(OptionalDouble.empty());
            default -> OptionalDouble.empty();
        };
    }

    double of(Expression condition) {
        if (condition instanceof Literal literal) {
            return literal.value().equals(true) ? 1 : 0;
        } else if (condition instanceof Null) {
            return 0;
        } else if (!(condition instanceof Call call)) {
            return OTHER;
        } else {
            return ofCall(call);
        }
    }

    private double ofCall(Call call) {
        switch (call.function()) {
            case "and":
                return of(call.arguments());
            case "or":
                double failing = 1;
                for (Expression part : call.arguments()) {
                    failing *= 1 - of(part);
                }
                return 1 - failing;
            case "not":
                return 1 - of(call.arguments().get(0));
            case "is_null":
                return nulls(call);
            case "is_not_null":
                return 1 - nulls(call);
            case "eq":
                return equal(call);
            case "ne":
                return 1 - equal(call);
            case "lt", "le", "gt", "ge":
                Optional<Comparison> comparison = comparison(call);
                OptionalDouble below = comparison.isEmpty() ? OptionalDouble.empty() : below(comparison.get());
                if (below.isEmpty()) {
                    return RANGE;
                }
                boolean upper = comparison.get().function.startsWith("l");
                return upper ? below.getAsDouble() : 1 - below.getAsDouble();
            case "like", "ilike", "similar_to", "starts_with":
                return PATTERN;
            default:
                return OTHER;
        }
    }

    private double nulls(Call call) {
        return call.arguments().get(0) instanceof Column column
                ? cardinality
                        .statistics(node, column.index())
                        .map(ColumnStatistics::nullFraction)
                        .orElse(0.1)
                : 0.1;
    }

    private double equal(Call call) {
        Optional<Comparison> comparison = comparison(call);
        if (comparison.isPresent()) {
            int column = comparison.get().column;
            OptionalDouble known = cardinality
                    .statistics(node, column)
                    .map(statistics -> statistics.equalTo(comparison.get().value.value()))
                    .orElse(OptionalDouble.empty());
            return known.orElseGet(() -> 1 / cardinality.distinct(node, column));
        }
        if (call.arguments().get(0) instanceof Column left && call.arguments().get(1) instanceof Column right) {
            return 1 / Math.max(cardinality.distinct(node, left.index()), cardinality.distinct(node, right.index()));
        }
        return EQUAL;
    }

    /** A column beside a constant; the function as if the column stood first. */
    private record Comparison(String function, int column, Literal value) {}

    private static Optional<Comparison> comparison(Expression condition) {
        if (!(condition instanceof Call call) || call.arguments().size() != 2) {
            return Optional.empty();
        }
        Expression left = call.arguments().get(0);
        Expression right = call.arguments().get(1);
        if (left instanceof Literal literal && right instanceof Column column) {
            return Optional.of(new Comparison(turned(call.function()), column.index(), literal));
        }
        if (left instanceof Cast cast && cast.input() instanceof Column column && right instanceof Literal literal) {
            return Optional.of(new Comparison(call.function(), column.index(), literal));
        }
        return left instanceof Column column && right instanceof Literal literal
                ? Optional.of(new Comparison(call.function(), column.index(), literal))
                : Optional.empty();
    }

    private static String turned(String function) {
        return switch (function) {
            case "lt" -> "gt";
            case "le" -> "ge";
            case "gt" -> "lt";
            case "ge" -> "le";
            default -> function;
        };
    }
}
