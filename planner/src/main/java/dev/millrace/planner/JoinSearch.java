package dev.millrace.planner;

import dev.millrace.error.MillraceException;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.estimate.Cardinality;
import dev.millrace.planner.estimate.StandingWork;
import dev.millrace.planner.explain.PlanText;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.fact.UniqueKey;
import dev.millrace.planner.order.JoinOrder;
import dev.millrace.planner.simplify.Simplification;
import dev.millrace.planner.tree.Rewriter;
import java.util.List;
import java.util.function.Function;

/**
 * The order of a query's joins. That of a standing query is planned to the end both ways, and the order written is left for
 * what keeps less and works less. Where it reads streams the plans must agree in all that times decide: watermarks, windows,
 * joins in time, what is never taken back; and none may keep for ever what the other lets go.
 */
final class JoinSearch {
    private static final double WORTH_IT = 0.95;

    private final PlannerContext context;
    private final Inference inference;
    private final Cardinality cardinality;

    JoinSearch(PlannerContext context, Inference inference) {
        this.context = context;
        this.inference = inference;
        this.cardinality = context.cardinality();
    }

    /** Whether a query joins relations of which anything is known. */
    boolean isWorthwhile(PlanNode written) {
        List<PlanNode> nodes = Subplans.of(written);
        return nodes.stream().anyMatch(PlanNode.Join.class::isInstance)
                && nodes.stream().anyMatch(this::isKnown);
    }

    private boolean isKnown(PlanNode node) {
        return node instanceof PlanNode.Scan scan
                && (inference.finite() ? cardinality.isCounted(scan.relation()) : cardinality.isKnown(scan.relation()));
    }

    /** The joins in a better order, if there is one; constants first, which filters are compared with. */
    PlanNode ordered(PlanNode written) {
        if (!inference.finite() && context.stateTtlMicros().isPresent() && readsStream(written)) {
            return written; // what is forgotten, and when, is a matter of where it is kept
        }
        return JoinOrder.choose(
                Rewriter.rewrite(written, Simplification.constants(context.folderOfRows())),
                cardinality,
                new UniqueKey(context.relations()),
                inference);
    }

    private boolean readsStream(PlanNode plan) {
        return Subplans.of(plan).stream()
                .anyMatch(node ->
                        node instanceof PlanNode.Scan && inference.of(node).appendOnly());
    }

    /**
     * The better plan of a standing query, with what is expected of both.
     *
     * @throws MillraceException if there is none in the order written: the order decides about no query
     */
    PhysicalPlan better(PlanNode written, PlanNode ordered, Function<PlanNode, PhysicalPlan> physical) {
        PhysicalPlan asWritten = physical.apply(written);
        StandingWork ofWritten = StandingWork.of(asWritten.root(), cardinality, inference);
        PhysicalPlan asOrdered;
        try {
            asOrdered = physical.apply(ordered);
        } catch (MillraceException refused) {
            return with(asWritten, ofWritten, ofWritten);
        }
        StandingWork ofOrdered = StandingWork.of(asOrdered.root(), cardinality, inference);
        boolean better = ofOrdered.total() < WORTH_IT * ofWritten.total()
                && (ofWritten.endless() || !ofOrdered.endless())
                && (!readsStream(asWritten.root()) || areAlikeInTime(asWritten, asOrdered));
        return better ? with(asOrdered, ofWritten, ofOrdered) : with(asWritten, ofWritten, ofWritten);
    }

    /** Mere guesses about streams are only told where they decided. */
    private PhysicalPlan with(PhysicalPlan plan, StandingWork written, StandingWork chosen) {
        boolean told = chosen != written
                || Subplans.of(plan.root()).stream()
                        .anyMatch(node -> node instanceof PlanNode.Scan scan && cardinality.isCounted(scan.relation()));
        return told ? plan.with(new JoinChoice(written, chosen)) : plan;
    }

    private boolean areAlikeInTime(PhysicalPlan one, PhysicalPlan other) {
        return one.appendOnly() == other.appendOnly()
                && one.emit().equals(other.emit())
                && one.eventTime().equals(other.eventTime())
                && one.uniqueKey().equals(other.uniqueKey())
                && inTime(one).equals(inTime(other));
    }

    /** What a plan does that depends on when rows come or whether they go, in no order. */
    private List<String> inTime(PhysicalPlan plan) {
        return Subplans.of(plan.root()).stream()
                .filter(JoinSearch::mayDependOnTime)
                .map(this::line)
                .sorted()
                .toList();
    }

    private static boolean mayDependOnTime(PlanNode node) {
        return !(node instanceof PlanNode.Scan
                || node instanceof PlanNode.Calc
                || node instanceof PlanNode.Values
                || node instanceof PlanNode.Exchange
                || node instanceof PlanNode.MultiJoin
                || node instanceof PlanNode.Join join
                        && join.kind() == PlanNode.JoinKind.INNER
                        && join.time().isEmpty());
    }

    private String line(PlanNode node) {
        StringBuilder line = new StringBuilder(PlanText.line(node));
        node.inputs().forEach(input -> line.append(inference.of(input).appendOnly() ? " append-only" : " changes"));
        return line.toString();
    }
}
