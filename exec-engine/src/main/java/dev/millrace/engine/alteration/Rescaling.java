package dev.millrace.engine.alteration;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Distribution;
import dev.millrace.plan.node.PlanNode.Exchange;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.MultiJoin;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.plan.node.PlanNode.Union;
import dev.millrace.plan.node.PlanNode.Values;
import dev.millrace.plan.node.PlanNode.Watermark;
import dev.millrace.plan.node.PlanNode.WindowAggregate;
import dev.millrace.plan.node.PlanNode.WindowAssign;
import dev.millrace.plan.node.PlanNode.WindowExtreme;
import dev.millrace.plan.node.Subplans;
import dev.millrace.plan.node.WindowSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Whether saved state can be dealt out to another number of tasks. State is saved by the key groups of an operator's own
 * keys; rows come by those of the exchange before it. Where the two differ (counts of distinct values are spread by value,
 * too; groups by two keys may come by one of them) state belongs to the task that wrote it.
 */
public final class Rescaling {
    private Rescaling() {}

    public static boolean isExact(PlanNode plan) {
        return Subplans.of(plan).stream().allMatch(Rescaling::isExactHere);
    }

    private static boolean isExactHere(PlanNode node) {
        if (node instanceof Aggregate aggregate) {
            return aggregate.phase() == Phase.PARTIAL || comesBy(aggregate.input(), aggregate.keys());
        }
        if (node instanceof WindowAggregate aggregate) {
            if (aggregate.phase() == Phase.PARTIAL) {
                return aggregate.window() instanceof WindowSpec.Session; // of which nothing is saved
            }
            return comesBy(aggregate.input(), savedBy(aggregate.keys(), aggregate.window()));
        }
        if (node instanceof WindowExtreme extreme) {
            return extreme.phase() == Phase.PARTIAL
                    || comesBy(extreme.input(), savedBy(extreme.keys(), extreme.window()));
        }
        if (node instanceof TopN topN) {
            return comesBy(topN.input(), topN.partition());
        }
        if (node instanceof Join join) {
            return comesBy(join.left(), join.leftKeys()) && comesBy(join.right(), join.rightKeys());
        }
        if (node instanceof MultiJoin join) {
            return IntStream.range(0, join.inputs().size())
                    .allMatch(i -> comesBy(join.inputs().get(i), join.keys().get(i)));
        }
        return node instanceof Scan
                || node instanceof Values
                || node instanceof Calc
                || node instanceof Watermark
                || node instanceof WindowAssign
                || node instanceof Union
                || node instanceof Exchange;
    }

    /** The start of a window that rows bring along is one key more. */
    private static List<Integer> savedBy(List<Integer> keys, WindowSpec window) {
        List<Integer> all = new ArrayList<>(keys);
        if (window instanceof WindowSpec.Attached attached) {
            all.add(attached.startColumn());
        }
        return all;
    }

    private static boolean comesBy(PlanNode input, List<Integer> keys) {
        return input instanceof Exchange exchange
                && (exchange.distribution() instanceof Distribution.Single
                        || exchange.distribution() instanceof Distribution.Hash hash
                                && hash.columns().equals(keys));
    }
}
