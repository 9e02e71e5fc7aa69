package dev.millrace.sql.bind;

import dev.millrace.error.MillraceException;
import org.apache.calcite.plan.hep.HepPlanner;
import org.apache.calcite.plan.hep.HepProgram;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.RelFactories;
import org.apache.calcite.rel.rules.CoreRules;
import org.apache.calcite.sql2rel.RelDecorrelator;

/** Turns sub-queries in expressions into joins and aggregates, and correlation into conditions where that is possible. */
final class SubQueries {
    private SubQueries() {}

    /**
     * The same query without sub-queries:
     *
     * <pre>
     * filter(x IN (SELECT y FROM t))   becomes   join(.., distinct(y of t), x = y)
     * </pre>
     */
    static RelNode remove(RelNode query) {
        HepProgram program = HepProgram.builder()
                .addRuleInstance(CoreRules.FILTER_SUB_QUERY_TO_CORRELATE)
                .addRuleInstance(CoreRules.PROJECT_SUB_QUERY_TO_CORRELATE)
                .addRuleInstance(CoreRules.JOIN_SUB_QUERY_TO_CORRELATE)
                .build();
        HepPlanner planner = new HepPlanner(program);
        planner.setRoot(query);
        try {
            return RelDecorrelator.decorrelateQuery(
                    planner.findBestExp(), RelFactories.LOGICAL_BUILDER.create(query.getCluster(), null));
        } catch (RuntimeException | AssertionError e) {
            // Calcite gives up on some shapes by whatever exception or assertion comes first.
            throw MillraceException.notAvailableYet("this kind of correlated sub-query");
        }
    }
}
