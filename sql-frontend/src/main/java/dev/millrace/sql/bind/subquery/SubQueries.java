package dev.millrace.sql.bind.subquery;

import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.apache.calcite.plan.hep.HepPlanner;
import org.apache.calcite.plan.hep.HepProgram;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.rules.SubQueryRemoveRule;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;

/** Turns sub-queries in expressions into joins and aggregates, and correlation into conditions where that is possible. */
public final class SubQueries {
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
    public static RelNode remove(RelNode query, boolean hasLookups) {
        // together, since what one of them unfolds can hold what is another's
        HepProgram program = HepProgram.builder()
                .addRuleCollection(List.of(
                        // not by CoreRules, which makes all of Calcite's first: seconds on a busy machine
                        SubQueryRemoveRule.Config.FILTER.toRule(),
                        SubQueryRemoveRule.Config.PROJECT.toRule(),
                        SubQueryRemoveRule.Config.JOIN.toRule()))
                .build();
        HepPlanner planner = new HepPlanner(program) {
            @Override
            public void checkCancel() { // before each rule it applies
                Interrupt.checkCurrent();
            }
        };
        RelNode withJoins = RowMembership.count(SemiJoins.apply(BelowWindows.move(query)));
        if (!isLeft(withJoins)) {
            return withJoins;
        }
        if (hasLookups) {
            throw MillraceException.notAvailableYet(
                            "a sub-query of this kind beside FOR SYSTEM_TIME AS OF proctime() (it could read that twice, at two"
                                    + " times)")
                    .withHint("make a materialized view of one of them");
        }
        planner.setRoot(withJoins);
        try {
            return DependentJoins.remove(BelowCrossJoins.move(OuterFilters.push(planner.findBestExp())));
        } catch (AssertionError e) { // of Calcite's, where assertions are on
            throw MillraceException.notAvailableYet("this kind of correlated sub-query")
                    .withHint("write a join with a grouped sub-query");
        }
    }

    /** Whether there is still a sub-query in an expression, or a row of an outer query. */
    private static boolean isLeft(RelNode query) {
        return isLeft(query, Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    private static boolean isLeft(RelNode node, Set<RelNode> seen) {
        if (!seen.add(node)) {
            return false; // or it was found there
        }
        Interrupt.checkCurrent();
        boolean[] found = {node instanceof Correlate};
        node.accept(new RexShuttle() {
            @Override
            public RexNode visitSubQuery(RexSubQuery query) {
                found[0] = true;
                return query;
            }
        });
        return found[0] || node.getInputs().stream().anyMatch(input -> isLeft(input, seen));
    }
}
