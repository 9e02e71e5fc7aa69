package dev.millrace.sql.algebra;

import java.util.List;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.plan.ConventionTraitDef;
import org.apache.calcite.plan.RelTraitDef;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.plan.hep.HepPlanner;
import org.apache.calcite.plan.hep.HepProgram;

/**
 * The planner that a query's nodes belong to: it applies no rules and is there because a Calcite cluster must have one.
 * All nodes have the trait {@link Convention#NONE} alone.
 */
public final class LogicalPlanner extends HepPlanner {
    private static final HepProgram NO_RULES = HepProgram.builder().build();
    private static final RelTraitSet TRAITS = RelTraitSet.createEmpty().plus(Convention.NONE);

    public LogicalPlanner() {
        super(NO_RULES);
    }

    @Override
    public List<RelTraitDef> getRelTraitDefs() {
        return List.of(ConventionTraitDef.INSTANCE);
    }

    @Override
    public RelTraitSet emptyTraitSet() {
        return TRAITS;
    }
}
