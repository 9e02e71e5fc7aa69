package dev.millrace.planner.prune;

import dev.millrace.connector.ColumnPredicate;
import dev.millrace.connector.ColumnPredicate.Comparison;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.fact.RelationFacts;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Tells readers which rows nobody wants. The filter stays: a reader may ignore what it is told.
 *
 * <pre>
 * Calc(where price > 5)    becomes    Calc(where price > 5)
 *   Scan                                Scan(predicates price > 5)
 * </pre>
 *
 * Only where a reader reads for this query alone (replayable sources) and for this filter alone. A watermark between
 * the two keeps the rule from firing: it must see all rows.
 */
public final class PushPredicatesIntoScan {
    private final Function<String, RelationFacts> relations;
    private final Map<Scan, Set<PlanNode>> parents = new HashMap<>();

    private PushPredicatesIntoScan(Function<String, RelationFacts> relations) {
        this.relations = relations;
    }

    public static PlanNode apply(PlanNode plan, Function<String, RelationFacts> relations) {
        PushPredicatesIntoScan push = new PushPredicatesIntoScan(relations);
        Subplans.of(plan).forEach(push::collectParents);
        return Rewriter.rewrite(plan, push::pushed);
    }

    private void collectParents(PlanNode node) {
        for (PlanNode input : node.inputs()) {
            if (input instanceof Scan scan) {
                parents.computeIfAbsent(scan, key -> new HashSet<>()).add(node);
            }
        }
    }

    private Optional<PlanNode> pushed(PlanNode node) {
        if (!(node instanceof Calc calc)
                || !(calc.input() instanceof Scan scan)
                || !scan.predicates().isEmpty()
                || parents.getOrDefault(scan, Set.of()).size() != 1
                || !relations.apply(scan.relation()).replayable()) {
            return Optional.empty();
        }
        List<ColumnPredicate> predicates = new ArrayList<>();
        for (Expression conjunct : Expressions.conjuncts(calc.condition())) {
            predicate(conjunct, scan).ifPresent(predicates::add);
        }
        return predicates.isEmpty()
                ? Optional.empty()
                : Optional.of(Nodes.withInputs(
                        calc,
                        List.of(new Scan(
                                scan.relation(), scan.columns(), predicates, scan.condensation(), scan.schema()))));
    }

    private static Optional<ColumnPredicate> predicate(Expression conjunct, Scan scan) {
        if (!(conjunct instanceof Call call)) {
            return Optional.empty();
        }
        List<Expression> arguments = call.arguments();
        if (arguments.size() == 1 && arguments.get(0) instanceof Column column) {
            return nullTest(call.function())
                    .map(test -> new ColumnPredicate(scan.columns().get(column.index()), test, Optional.empty()));
        }
        if (arguments.size() != 2) {
            return Optional.empty();
        }
        boolean straight = arguments.get(0) instanceof Column;
        if (!(arguments.get(straight ? 0 : 1) instanceof Column column)
                || !(arguments.get(straight ? 1 : 0) instanceof Literal literal)
                || !literal.type().equals(column.type())) {
            return Optional.empty();
        }
        return comparison(call.function(), straight)
                .map(comparison -> new ColumnPredicate(
                        scan.columns().get(column.index()), comparison, Optional.of(literal.value())));
    }

    private static Optional<Comparison> nullTest(String function) {
        return switch (function) {
            case "is_null" -> Optional.of(Comparison.IS_NULL);
            case "is_not_null" -> Optional.of(Comparison.IS_NOT_NULL);
            default -> Optional.empty();
        };
    }

    private static Optional<Comparison> comparison(String function, boolean straight) {
        return switch (function) {
            case "eq" -> Optional.of(Comparison.EQ);
            case "ne" -> Optional.of(Comparison.NE);
            case "lt" -> Optional.of(straight ? Comparison.LT : Comparison.GT);
            case "le" -> Optional.of(straight ? Comparison.LE : Comparison.GE);
            case "gt" -> Optional.of(straight ? Comparison.GT : Comparison.LT);
            case "ge" -> Optional.of(straight ? Comparison.GE : Comparison.LE);
            default -> Optional.empty();
        };
    }
}
