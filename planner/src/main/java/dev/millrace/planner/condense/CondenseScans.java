package dev.millrace.planner.condense;

import dev.millrace.condense.Condensation;
import dev.millrace.condense.Condensing;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.plan.node.PlanNode.WindowAssign;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.fact.RelationFacts;
import dev.millrace.planner.tree.Rewriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Tells readers of sketches that rows that are alike may come as one, with their number as weight, where that is all that an aggregation
 * wants to know: then what lies between computes once for each combination of values, and not for each row.
 *
 * <pre>
 * Aggregate(by k, window_start; avg(v))     becomes    the same
 *   Calc(where v > 5)                                    the same
 *     WindowAssign(tumble 1 min on ts)                     the same
 *       Scan(s: k, v, ts)                                    Scan(s: k, v, ts; alike rows as one, times by 1 min)
 * </pre>
 *
 * Each operator between has a rule of its own ({@link Wanted}): which columns it wants to know, and what of time. The rule does not fire where an
 * aggregate depends on the order of rows, where an operator does more than add up weights, where a time is wanted itself, for volatile expressions, nor for a
 * relation that is read twice: two readers could differ in how far they are.
 */
public final class CondenseScans {
    private final Function<String, RelationFacts> relations;
    private final Map<PlanNode, Integer> parents = new IdentityHashMap<>();
    private final Map<String, Integer> reads = new HashMap<>();
    private final Map<String, Condensation> found = new HashMap<>();

    private CondenseScans(Function<String, RelationFacts> relations) {
        this.relations = relations;
    }

    public static PlanNode apply(PlanNode plan, Function<String, RelationFacts> relations) {
        CondenseScans scans = new CondenseScans(relations);
        List<PlanNode> all = Subplans.of(plan);
        all.forEach(scans::count);
        for (PlanNode node : all) {
            if (node instanceof Aggregate aggregate && suits(aggregate)) {
                scans.look(aggregate.input(), Wanted.by(aggregate), false);
            }
        }
        boolean asIs = scans.found.isEmpty()
                && all.stream()
                        .noneMatch(node ->
                                node instanceof Scan scan && scan.condensation().isPresent());
        return asIs ? plan : Rewriter.rewrite(plan, scans::condensed);
    }

    /** Whether rows come from a scan that gives alike ones as one, through operators that pass weights on. */
    public static boolean isCondensed(PlanNode rows) {
        return isCondensed(rows, Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    /** @param seen what was looked at: plans share their parts */
    private static boolean isCondensed(PlanNode rows, Set<PlanNode> seen) {
        return rows instanceof Scan scan
                ? scan.condensation().isPresent()
                : seen.add(rows)
                        && passesOn(rows)
                        && rows.inputs().stream().anyMatch(input -> isCondensed(input, seen));
    }

    private static boolean passesOn(PlanNode node) {
        return node instanceof Calc
                || node instanceof WindowAssign
                || node instanceof PlanNode.Union
                || node instanceof PlanNode.Join;
    }

    private void count(PlanNode node) {
        node.inputs().forEach(input -> parents.merge(input, 1, Integer::sum));
        if (node instanceof Scan scan) {
            reads.merge(scan.relation(), 1, Integer::sum);
        }
    }

    private static boolean suits(Aggregate aggregate) {
        return aggregate.phase() == Phase.SINGLE && aggregate.calls().stream().allMatch(CondenseScans::countsRows);
    }

    /** Whether it makes no difference in which order rows come, nor whether equal ones come together. */
    private static boolean countsRows(AggregateCall call) {
        return switch (call.function()) {
            case COUNT,
                    SUM,
                    AVG,
                    MIN,
                    MAX,
                    STDDEV_POP,
                    STDDEV_SAMP,
                    VAR_POP,
                    VAR_SAMP,
                    BOOL_AND,
                    BOOL_OR,
                    PERCENTILE_CONT,
                    PERCENTILE_DISC,
                    APPROX_COUNT_DISTINCT -> true;
            case FIRST_VALUE, LAST_VALUE, STRING_AGG, ARRAY_AGG, USER -> false;
        };
    }

    /** @param joined whether a join lies above: with windows below it would be a join of windows, which sees each row */
    private void look(PlanNode node, Wanted wanted, boolean joined) {
        if (parents.getOrDefault(node, 0) != 1) {
            return; // somebody else wants something else
        }
        if (node instanceof Scan scan) {
            relations
                    .apply(scan.relation())
                    .condensing()
                    .filter(condensing -> reads.getOrDefault(scan.relation(), 0) == 1)
                    .flatMap(condensing -> condensation(scan, condensing, wanted))
                    .ifPresent(condensation -> found.put(scan.relation(), condensation));
        } else if (node instanceof PlanNode.Union union) {
            union.inputs().forEach(input -> look(input, wanted, joined));
        } else if (node instanceof Calc calc) {
            wanted.below(calc).ifPresent(below -> look(calc.input(), below, joined));
        } else if (node instanceof WindowAssign assign && !joined) {
            wanted.below(assign).ifPresent(below -> look(assign.input(), below, false));
        } else if (node instanceof PlanNode.Join join
                && join.kind() == PlanNode.JoinKind.INNER
                && join.time().isEmpty()) {
            look(join.left(), wanted.left(join), true);
            look(join.right(), wanted.right(join), true);
        }
    }

    private static Optional<Condensation> condensation(Scan scan, Condensing condensing, Wanted wanted) {
        int time = condensing.time().isPresent()
                ? scan.columns().indexOf(condensing.time().getAsInt())
                : -1;
        if (time < 0 || !wanted.touches(time)) {
            return Optional.of(Condensation.EXACT);
        }
        Slices slices = new Slices();
        if (wanted.values().get(time)) {
            return Optional.empty();
        }
        wanted.uses(time).forEach(use -> use.into().accept(slices));
        return slices.isTooMany()
                ? Optional.empty()
                : Optional.of(new Condensation(
                        condensing.time(), slices.micros(), slices.offset(), new ArrayList<>(slices.cuts())));
    }

    private Optional<PlanNode> condensed(PlanNode node) {
        if (!(node instanceof Scan scan)) {
            return Optional.empty();
        }
        Optional<Condensation> right = Optional.ofNullable(found.get(scan.relation()));
        return right.equals(scan.condensation())
                ? Optional.empty()
                : Optional.of(new Scan(scan.relation(), scan.columns(), scan.predicates(), right, scan.schema()));
    }
}
