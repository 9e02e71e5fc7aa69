package dev.millrace.sql.bind;

import dev.millrace.error.MillraceException;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.plan.hep.HepPlanner;
import org.apache.calcite.plan.hep.HepProgram;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.RelFactories;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.logical.LogicalTableScan;
import org.apache.calcite.rel.rules.CoreRules;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.sql2rel.RelDecorrelator;

/** Turns sub-queries in expressions into joins and aggregates, and correlation into conditions where that is possible. */
final class SubQueries {
    private SubQueries() {}

    /**
     * The same query without sub-queries:
     *
     * <pre>
     * filter(x IN (SELECT y FROM t) or z)   becomes   filter(found or z, join(LEFT, .., distinct(y of t), x = y))
     * </pre>
     *
     * What can be a SEMI or ANTI join becomes one first, see {@link SemiJoins}.
     */
    static RelNode remove(RelNode query, boolean hasTimedJoins) {
        // together, since what one of them unfolds can hold what is another's
        HepProgram program = HepProgram.builder()
                .addRuleCollection(List.of(
                        CoreRules.FILTER_SUB_QUERY_TO_CORRELATE,
                        CoreRules.PROJECT_SUB_QUERY_TO_CORRELATE,
                        CoreRules.JOIN_SUB_QUERY_TO_CORRELATE))
                .build();
        HepPlanner planner = new HepPlanner(program);
        RelNode withJoins = RowMembership.count(SemiJoins.apply(query));
        if (!isLeft(withJoins)) {
            return withJoins;
        }
        if (hasTimedJoins) {
            throw MillraceException.notAvailableYet(
                            "a sub-query of this kind beside an ASOF JOIN or FOR SYSTEM_TIME AS OF")
                    .withHint("make a materialized view of one of them");
        }
        planner.setRoot(withJoins);
        RelNode correlated;
        try {
            correlated = planner.findBestExp();
        } catch (AssertionError e) {
            throw MillraceException.notAvailableYet("this kind of correlated sub-query")
                    .withHint("write a join with a grouped sub-query");
        }
        try {
            RelNode joins = decorrelated(ConstantGroups.remove(DependentJoins.remove(correlated, false)));
            return isLeft(joins) ? DependentJoins.remove(correlated, true) : joins;
        } catch (RuntimeException | AssertionError e) {
            // Calcite gives up on some shapes by whatever exception or assertion comes first.
            return DependentJoins.remove(correlated, true);
        }
    }

    private static RelNode decorrelated(RelNode query) {
        RelNode prepared = apart(OuterConditions.hide(withSteadyInputs(OuterColumns.hand(query))));
        return OuterConditions.show(RelDecorrelator.decorrelateQuery(
                prepared, RelFactories.LOGICAL_BUILDER.create(query.getCluster(), null)));
    }

    /**
     * A correlation that is taken apart has more columns than before. Calcite has the nodes it knows follow that, but takes
     * the inputs of all others, SEMI and ANTI joins among them, for what they were: a projection keeps them so.
     */
    private static RelNode withSteadyInputs(RelNode node) {
        boolean follows = node instanceof Project
                || node instanceof Filter
                || node instanceof Aggregate
                || node instanceof Sort
                || node instanceof Correlate
                || node instanceof Join join && join.getJoinType().projectsRight();
        List<RelNode> inputs = new ArrayList<>();
        for (RelNode input : node.getInputs()) {
            RelNode steady = withSteadyInputs(input);
            boolean grows = !follows && !(steady instanceof Project) && hasCorrelation(steady);
            inputs.add(
                    grows
                            ? Relations.project(
                                    steady,
                                    Relations.references(steady),
                                    steady.getRowType().getFieldNames())
                            : steady);
        }
        return inputs.equals(node.getInputs()) ? node : node.copy(node.getTraitSet(), inputs);
    }

    /**
     * The same tree without a node that stands in two places. Calcite notes by the node what becomes of it: a table that a
     * correlated query reads gets columns of the outer row, and would have them wherever else the same scan stands.
     */
    private static RelNode apart(RelNode node) {
        return node instanceof LogicalTableScan scan
                ? new LogicalTableScan(scan.getCluster(), scan.getTraitSet(), scan.getHints(), scan.getTable())
                : node.copy(
                        node.getTraitSet(),
                        node.getInputs().stream().map(SubQueries::apart).toList());
    }

    private static boolean hasCorrelation(RelNode node) {
        return node instanceof Correlate || node.getInputs().stream().anyMatch(SubQueries::hasCorrelation);
    }

    /** Whether there is still a sub-query in an expression, or a row of an outer query. */
    private static boolean isLeft(RelNode node) {
        boolean[] found = {node instanceof Correlate};
        node.accept(new RexShuttle() {
            @Override
            public RexNode visitSubQuery(RexSubQuery query) {
                found[0] = true;
                return query;
            }
        });
        return found[0] || node.getInputs().stream().anyMatch(SubQueries::isLeft);
    }
}
