package dev.millrace.planner.explain;

import dev.millrace.error.MillraceException;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.algebra.Translation;
import dev.millrace.planner.fact.RelationFacts;
import dev.millrace.planner.simplify.Simplification;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewriter;
import dev.millrace.sql.statement.Query;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.sql.SqlExplainLevel;

/** A query's algebra as text, before anything is rewritten: EXPLAIN (LOGICAL). */
public final class LogicalText {
    private static final RelationFacts NOTHING_KNOWN = new RelationFacts(true, true, Optional.empty(), List.of());

    private LogicalText() {}

    /** A line per node, inputs indented below; what the planner cannot plan in Calcite's own words. */
    public static String of(Query query) {
        try {
            PlanNode plain = new Translation(name -> NOTHING_KNOWN, true, false, expression -> expression)
                    .translate(query.rel());
            PlanNode merged = Rewriter.rewrite(plain, Simplification.merging());
            return PlanText.withoutNotes(Nodes.named(merged, query.schema().names()));
        } catch (MillraceException notPlanned) {
            return RelOptUtil.toString(query.rel(), SqlExplainLevel.EXPPLAN_ATTRIBUTES);
        }
    }
}
