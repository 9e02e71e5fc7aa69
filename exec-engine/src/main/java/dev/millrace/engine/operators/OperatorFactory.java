package dev.millrace.engine.operators;

import dev.millrace.engine.aggregate.AggregateOperator;
import dev.millrace.engine.aggregate.partial.PartialAggregateOperator;
import dev.millrace.engine.calc.CalcOperator;
import dev.millrace.engine.calc.CallingCalc;
import dev.millrace.engine.expand.ExpandOperator;
import dev.millrace.engine.forget.ForgettingOperator;
import dev.millrace.engine.join.AppendedJoinOperator;
import dev.millrace.engine.join.AsofJoinOperator;
import dev.millrace.engine.join.ExistenceJoinOperator;
import dev.millrace.engine.join.JoinOperator;
import dev.millrace.engine.join.LookupJoinOperator;
import dev.millrace.engine.join.MultiJoinOperator;
import dev.millrace.engine.match.MatchOperator;
import dev.millrace.engine.over.OverOperator;
import dev.millrace.engine.state.Forgetful;
import dev.millrace.engine.timed.PaceOperator;
import dev.millrace.engine.timed.TimeFilterOperator;
import dev.millrace.engine.topn.AppendedTopNOperator;
import dev.millrace.engine.topn.FewBestOperator;
import dev.millrace.engine.topn.SortOperator;
import dev.millrace.engine.topn.TopNOperator;
import dev.millrace.engine.topn.WindowTopNOperator;
import dev.millrace.engine.watermark.VersionsOperator;
import dev.millrace.engine.window.ExtremeCandidatesOperator;
import dev.millrace.engine.window.PartialSessionsOperator;
import dev.millrace.engine.window.SessionAggregateOperator;
import dev.millrace.engine.window.SliceAggregateOperator;
import dev.millrace.engine.window.WindowAssignOperator;
import dev.millrace.engine.window.WindowExtremeOperator;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.Forgetting;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.WindowSpec;
import java.util.List;
import java.util.Optional;

/** Makes the operator of a plan node. */
public final class OperatorFactory {
    private OperatorFactory() {}

    /**
     * A new operator, not yet open. Nodes that the runtime itself carries out (scans, values, watermarks, unions,
     * exchanges) have none.
     */
    public static Operator create(PlanNode node) {
        if (node instanceof PlanNode.Calc calc) {
            return CallingCalc.suits(calc) ? new CallingCalc(calc) : new CalcOperator(calc);
        }
        if (node instanceof PlanNode.Expand expand) {
            return new ExpandOperator(expand);
        }
        if (node instanceof PlanNode.WindowAssign assign) {
            return new WindowAssignOperator(assign);
        }
        if (node instanceof PlanNode.Aggregate aggregate) {
            return aggregate.phase() == Phase.PARTIAL
                    ? new PartialAggregateOperator(aggregate)
                    : forgetting(
                            new AggregateOperator(aggregate),
                            aggregate.input(),
                            aggregate.keys(),
                            aggregate.forgetting());
        }
        if (node instanceof PlanNode.WindowAggregate aggregate) {
            if (!(aggregate.window() instanceof WindowSpec.Session)) {
                return new SliceAggregateOperator(aggregate);
            }
            return aggregate.phase() == Phase.PARTIAL
                    ? new PartialSessionsOperator(aggregate)
                    : new SessionAggregateOperator(aggregate);
        }
        if (node instanceof PlanNode.WindowExtreme extreme) {
            return extreme.phase() == Phase.PARTIAL
                    ? new ExtremeCandidatesOperator(extreme)
                    : new WindowExtremeOperator(extreme);
        }
        if (node instanceof PlanNode.Join join) {
            if (join.time().filter(JoinTime.Nearest.class::isInstance).isPresent()) {
                return new AsofJoinOperator(join);
            }
            if (ExistenceJoinOperator.suits(join)) {
                return new ExistenceJoinOperator(join);
            }
            if (AppendedJoinOperator.suits(join)) {
                return new AppendedJoinOperator(join);
            }
            return join.time().filter(JoinTime.Current.class::isInstance).isPresent()
                    ? new LookupJoinOperator(join)
                    : new JoinOperator(join);
        }
        if (node instanceof PlanNode.MultiJoin join) {
            return new MultiJoinOperator(join);
        }
        if (node instanceof PlanNode.TopN topN) {
            if (topN.windowEnd().isPresent()) {
                return new WindowTopNOperator(topN);
            }
            if (topN.forgetting().isEmpty() && FewBestOperator.suits(topN)) {
                return new FewBestOperator(topN);
            }
            Forgetful ranking =
                    AppendedTopNOperator.suits(topN) ? new AppendedTopNOperator(topN) : new TopNOperator(topN);
            return forgetting(ranking, topN.input(), topN.partition(), topN.forgetting());
        }
        if (node instanceof PlanNode.Match match) {
            return new MatchOperator(match);
        }
        if (node instanceof PlanNode.Versions versions) {
            return new VersionsOperator(versions);
        }
        if (node instanceof PlanNode.TimeFilter filter) {
            return new TimeFilterOperator(filter);
        }
        if (node instanceof PlanNode.Pace pace) {
            return new PaceOperator(pace);
        }
        if (node instanceof PlanNode.Over over) {
            return new OverOperator(over);
        }
        if (node instanceof PlanNode.Sort sort) {
            return new SortOperator(sort);
        }
        throw new IllegalArgumentException(node.getClass().getSimpleName() + " has no operator of its own");
    }

    private static Operator forgetting(
            Forgetful operator, PlanNode input, List<Integer> keys, Optional<Forgetting> rule) {
        return rule.isPresent() ? new ForgettingOperator(operator, input.schema(), keys, rule.get()) : operator;
    }
}
