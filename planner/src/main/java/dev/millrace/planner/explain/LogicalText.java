package dev.millrace.planner.explain;

import dev.millrace.sql.statement.Query;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.sql.SqlExplainLevel;

/** The algebra of a query as text, as the front end made it: EXPLAIN (LOGICAL). */
public final class LogicalText {
    private LogicalText() {}

    /** A line per node, inputs indented below. */
    public static String of(Query query) {
        return RelOptUtil.toString(query.rel(), SqlExplainLevel.EXPPLAN_ATTRIBUTES);
    }
}
