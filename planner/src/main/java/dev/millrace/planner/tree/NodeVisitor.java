package dev.millrace.planner.tree;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.node.PlanNode;

/** One method per kind of node and no defaults: a pass that is complete by construction. */
public interface NodeVisitor<R> {
    R scan(PlanNode.Scan scan);

    R values(PlanNode.Values values);

    R watermark(PlanNode.Watermark watermark);

    R versions(PlanNode.Versions versions);

    R calc(PlanNode.Calc calc);

    R windowAssign(PlanNode.WindowAssign assign);

    R expand(PlanNode.Expand expand);

    R aggregate(PlanNode.Aggregate aggregate);

    R windowAggregate(PlanNode.WindowAggregate aggregate);

    R windowExtreme(PlanNode.WindowExtreme extreme);

    R join(PlanNode.Join join);

    R multiJoin(PlanNode.MultiJoin join);

    R topN(PlanNode.TopN topN);

    R match(PlanNode.Match match);

    R over(PlanNode.Over over);

    R timeFilter(PlanNode.TimeFilter filter);

    R pace(PlanNode.Pace pace);

    R union(PlanNode.Union union);

    R sort(PlanNode.Sort sort);

    R exchange(PlanNode.Exchange exchange);

    /** Calls the method of the node's kind. */
    static <R> R visit(PlanNode node, NodeVisitor<R> visitor) {
        Interrupt.checkCurrent();
        if (node instanceof PlanNode.Calc calc) {
            return visitor.calc(calc);
        } else if (node instanceof PlanNode.Scan scan) {
            return visitor.scan(scan);
        } else if (node instanceof PlanNode.Watermark watermark) {
            return visitor.watermark(watermark);
        } else if (node instanceof PlanNode.Versions versions) {
            return visitor.versions(versions);
        } else if (node instanceof PlanNode.Aggregate aggregate) {
            return visitor.aggregate(aggregate);
        } else if (node instanceof PlanNode.WindowAggregate aggregate) {
            return visitor.windowAggregate(aggregate);
        } else if (node instanceof PlanNode.WindowAssign assign) {
            return visitor.windowAssign(assign);
        } else if (node instanceof PlanNode.WindowExtreme extreme) {
            return visitor.windowExtreme(extreme);
        } else if (node instanceof PlanNode.Join join) {
            return visitor.join(join);
        } else if (node instanceof PlanNode.MultiJoin join) {
            return visitor.multiJoin(join);
        } else if (node instanceof PlanNode.TopN topN) {
            return visitor.topN(topN);
        } else if (node instanceof PlanNode.Match match) {
            return visitor.match(match);
        } else if (node instanceof PlanNode.Over over) {
            return visitor.over(over);
        } else if (node instanceof PlanNode.TimeFilter filter) {
            return visitor.timeFilter(filter);
        } else if (node instanceof PlanNode.Pace pace) {
            return visitor.pace(pace);
        } else if (node instanceof PlanNode.Union union) {
            return visitor.union(union);
        } else if (node instanceof PlanNode.Sort sort) {
            return visitor.sort(sort);
        } else if (node instanceof PlanNode.Exchange exchange) {
            return visitor.exchange(exchange);
        } else if (node instanceof PlanNode.Expand expand) {
            return visitor.expand(expand);
        } else if (node instanceof PlanNode.Values values) {
            return visitor.values(values);
        }
        throw new AssertionError("a new kind of node: " + node.getClass());
    }
}
