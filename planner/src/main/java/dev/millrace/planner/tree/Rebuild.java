package dev.millrace.planner.tree;

import dev.millrace.plan.node.PlanNode;
import java.util.List;

/** The same node over other inputs. */
record Rebuild(List<PlanNode> inputs) implements NodeVisitor<PlanNode> {
    private PlanNode input() {
        return inputs.get(0);
    }

    @Override
    public PlanNode scan(PlanNode.Scan scan) {
        return scan;
    }

    @Override
    public PlanNode values(PlanNode.Values values) {
        return values;
    }

    @Override
    public PlanNode watermark(PlanNode.Watermark node) {
        return Nodes.watermark(node, input(), node.timeColumn());
    }

    @Override
    public PlanNode versions(PlanNode.Versions node) {
        return Nodes.versions(input(), node.key(), node.timeColumn());
    }

    @Override
    public PlanNode calc(PlanNode.Calc node) {
        return Nodes.calc(input(), node.condition(), node.projections());
    }

    @Override
    public PlanNode windowAssign(PlanNode.WindowAssign node) {
        return Nodes.windowAssign(input(), node.timeColumn(), node.window());
    }

    @Override
    public PlanNode expand(PlanNode.Expand node) {
        return Nodes.expand(input(), node.kept(), node.calls(), node.ordinality(), node.outer());
    }

    @Override
    public PlanNode aggregate(PlanNode.Aggregate node) {
        return new PlanNode.Aggregate(
                input(),
                node.keys(),
                node.calls(),
                node.phase(),
                node.appendOnlyInput(),
                node.forgetting(),
                node.schema());
    }

    @Override
    public PlanNode windowAggregate(PlanNode.WindowAggregate node) {
        return new PlanNode.WindowAggregate(
                input(), node.timeColumn(), node.window(), node.keys(), node.calls(), node.phase(), node.schema());
    }

    @Override
    public PlanNode windowExtreme(PlanNode.WindowExtreme node) {
        return Nodes.windowExtreme(
                input(),
                node.timeColumn(),
                node.window(),
                node.keys(),
                node.valueColumn(),
                node.maximum(),
                node.closedEnd(),
                node.phase());
    }

    @Override
    public PlanNode join(PlanNode.Join node) {
        return Nodes.join(
                inputs.get(0),
                inputs.get(1),
                node.kind(),
                node.leftKeys(),
                node.rightKeys(),
                node.residual(),
                node.time());
    }

    @Override
    public PlanNode multiJoin(PlanNode.MultiJoin node) {
        return Nodes.multiJoin(inputs, node.keys());
    }

    @Override
    public PlanNode topN(PlanNode.TopN node) {
        PlanNode.TopN rebuilt = Nodes.topN(
                input(),
                node.partition(),
                node.order(),
                node.rank(),
                node.limit(),
                node.offset(),
                node.emitRank(),
                node.windowEnd());
        return Nodes.promised(rebuilt, node.appendOnlyInput()).forgetting(node.forgetting());
    }

    @Override
    public PlanNode match(PlanNode.Match node) {
        return new PlanNode.Match(
                input(), node.partition(), node.order(), node.spec(), node.values(), node.outputs(), node.schema());
    }

    @Override
    public PlanNode over(PlanNode.Over node) {
        return Nodes.over(input(), node.partition(), node.order(), node.calls(), node.closing());
    }

    @Override
    public PlanNode timeFilter(PlanNode.TimeFilter filter) {
        return new PlanNode.TimeFilter(
                input(), filter.timeColumn(), filter.bound(), filter.leaving(), filter.atBound());
    }

    @Override
    public PlanNode pace(PlanNode.Pace node) {
        return new PlanNode.Pace(input(), node.periodMicros());
    }

    @Override
    public PlanNode union(PlanNode.Union node) {
        return Nodes.union(inputs);
    }

    @Override
    public PlanNode sort(PlanNode.Sort node) {
        return new PlanNode.Sort(input(), node.order(), node.limit(), node.offset());
    }

    @Override
    public PlanNode exchange(PlanNode.Exchange node) {
        return new PlanNode.Exchange(input(), node.distribution());
    }
}
