package dev.millrace.sql.algebra;

import dev.millrace.plan.expression.Expression;
import org.apache.calcite.rex.RexNode;

/** Row expressions of the algebra as expressions of a plan. Stateless. */
public final class ExpressionTranslator {
    private ExpressionTranslator() {}

    /** Input references keep their index. Fails with 0A000 for what plans cannot hold: sub-queries, OVER, parameters. */
    public static Expression translate(RexNode node) {
        throw new UnsupportedOperationException();
    }
}
