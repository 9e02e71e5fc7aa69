package dev.millrace.planner.tree;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.type.Schema;
import java.util.List;

/** The same node under other column names, down to where the names come from. */
record Rename(List<String> names, Schema schema) implements NodeVisitor<PlanNode> {
    private PlanNode below(PlanNode node) {
        return Nodes.named(node, names);
    }

    @Override
    public PlanNode scan(PlanNode.Scan node) {
        return new PlanNode.Scan(node.relation(), node.columns(), node.predicates(), node.condensation(), schema);
    }

    @Override
    public PlanNode values(PlanNode.Values node) {
        return new PlanNode.Values(node.rows(), schema);
    }

    @Override
    public PlanNode watermark(PlanNode.Watermark node) {
        return Nodes.watermark(node, below(node.input()), node.timeColumn());
    }

    @Override
    public PlanNode versions(PlanNode.Versions node) {
        return new PlanNode.Versions(node.input(), node.key(), node.timeColumn(), schema);
    }

    @Override
    public PlanNode calc(PlanNode.Calc node) {
        return new PlanNode.Calc(node.input(), node.condition(), node.projections(), schema);
    }

    @Override
    public PlanNode windowAssign(PlanNode.WindowAssign node) {
        return new PlanNode.WindowAssign(node.input(), node.timeColumn(), node.window(), schema);
    }

    @Override
    public PlanNode expand(PlanNode.Expand node) {
        return new PlanNode.Expand(node.input(), node.kept(), node.calls(), node.ordinality(), node.outer(), schema);
    }

    @Override
    public PlanNode aggregate(PlanNode.Aggregate node) {
        return new PlanNode.Aggregate(
                node.input(),
                node.keys(),
                node.calls(),
                node.phase(),
                node.appendOnlyInput(),
                node.forgetting(),
                schema);
    }

    @Override
    public PlanNode windowAggregate(PlanNode.WindowAggregate node) {
        return new PlanNode.WindowAggregate(
                node.input(), node.timeColumn(), node.window(), node.keys(), node.calls(), node.phase(), schema);
    }

    @Override
    public PlanNode windowExtreme(PlanNode.WindowExtreme node) {
        return new PlanNode.WindowExtreme(
                node.input(),
                node.timeColumn(),
                node.window(),
                node.keys(),
                node.valueColumn(),
                node.maximum(),
                node.closedEnd(),
                node.phase(),
                schema);
    }

    @Override
    public PlanNode join(PlanNode.Join node) {
        return new PlanNode.Join(
                node.left(),
                node.right(),
                node.kind(),
                node.leftKeys(),
                node.rightKeys(),
                node.residual(),
                node.time(),
                schema);
    }

    @Override
    public PlanNode multiJoin(PlanNode.MultiJoin node) {
        return new PlanNode.MultiJoin(node.inputs(), node.keys(), schema);
    }

    @Override
    public PlanNode topN(PlanNode.TopN node) {
        return new PlanNode.TopN(
                node.input(),
                node.partition(),
                node.order(),
                node.rank(),
                node.limit(),
                node.offset(),
                node.emitRank(),
                node.windowEnd(),
                node.appendOnlyInput(),
                node.forgetting(),
                schema);
    }

    @Override
    public PlanNode match(PlanNode.Match node) {
        return new PlanNode.Match(
                node.input(), node.partition(), node.order(), node.spec(), node.values(), node.outputs(), schema);
    }

    @Override
    public PlanNode over(PlanNode.Over node) {
        return new PlanNode.Over(node.input(), node.partition(), node.order(), node.calls(), node.closing(), schema);
    }

    @Override
    public PlanNode timeFilter(PlanNode.TimeFilter filter) {
        return new PlanNode.TimeFilter(
                below(filter.input()), filter.timeColumn(), filter.bound(), filter.leaving(), filter.atBound());
    }

    @Override
    public PlanNode pace(PlanNode.Pace node) {
        return new PlanNode.Pace(below(node.input()), node.periodMicros());
    }

    @Override
    public PlanNode union(PlanNode.Union node) {
        return new PlanNode.Union(node.inputs(), schema);
    }

    @Override
    public PlanNode sort(PlanNode.Sort node) {
        return new PlanNode.Sort(below(node.input()), node.order(), node.limit(), node.offset());
    }

    @Override
    public PlanNode exchange(PlanNode.Exchange node) {
        return new PlanNode.Exchange(below(node.input()), node.distribution());
    }
}
