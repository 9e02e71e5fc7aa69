package dev.millrace.planner.estimate;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.fact.Inference;
import java.util.Locale;

/**
 * What a standing query is expected to cost, by which its plans are compared. Rows that time lets go count as few whatever
 * their number: they are kept as long in any order of joins.
 *
 * @param keptRows in the states of all operators, by the time that all rows of its relations have come
 * @param passedRows that went into operators until then
 * @param endless whether what is kept grows with a stream for ever
 */
public record StandingWork(double keptRows, double passedRows, boolean endless) {
    private static final double OPEN = 0.05; // the part of rows that no watermark has passed

    /** What rows cost a plan in all: they are kept, and they are worked at. */
    public double total() {
        return keptRows + passedRows;
    }

    /** Estimates it for a physical plan. */
    public static StandingWork of(PlanNode plan, Cardinality cardinality, Inference inference) {
        double kept = 0;
        double passed = 0;
        boolean endless = false;
        for (PlanNode node : Subplans.of(plan)) {
            for (PlanNode input : node.inputs()) {
                passed += node instanceof PlanNode.Exchange ? 0 : cardinality.rows(input);
                endless |= keepsAll(node) && grows(input, inference);
            }
            kept += kept(node, cardinality);
        }
        return new StandingWork(kept, passed, endless);
    }

    private static double kept(PlanNode node, Cardinality cardinality) {
        double given = node.inputs().stream().mapToDouble(cardinality::rows).sum();
        if (keepsAll(node)) {
            return given;
        } else if (node instanceof PlanNode.Aggregate || node instanceof PlanNode.TopN) {
            return cardinality.rows(node);
        } else if (node instanceof PlanNode.Join || node instanceof PlanNode.Over || node instanceof PlanNode.Match) {
            return OPEN * given;
        }
        return node instanceof PlanNode.WindowAggregate ? OPEN * cardinality.rows(node) : 0;
    }

    private static boolean keepsAll(PlanNode node) {
        return node instanceof PlanNode.Join join && join.time().isEmpty()
                || node instanceof PlanNode.MultiJoin
                || node instanceof PlanNode.Over over && over.closing().isEmpty()
                || node instanceof PlanNode.TopN topN && topN.windowEnd().isEmpty() && !topN.appendOnlyInput();
    }

    /** Whether rows of a stream are in what a node gives, each for ever. */
    private static boolean grows(PlanNode node, Inference inference) {
        return inference.of(node).appendOnly() && Subplans.of(node).stream().anyMatch(PlanNode.Scan.class::isInstance);
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%s rows kept, %s through operators", text(keptRows), text(passedRows))
                + (endless ? ", and more with each row of a stream" : "");
    }

    /** Guesses are told with three digits. */
    private static String text(double rows) {
        double unit = Math.pow(10, Math.max(0, Math.floor(Math.log10(Math.max(1, rows))) - 2));
        double rounded = Math.round(rows / unit) * unit;
        return rounded < 1e15 ? String.format(Locale.ROOT, "%,d", (long) rounded) : String.format("%.2e", rounded);
    }
}
