package dev.millrace.sql.algebra;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.OrderKey;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rel.RelCollation;
import org.apache.calcite.rel.RelNode;

/** Aggregate calls and orderings of the algebra as those of a plan. Stateless. */
public final class AggregateTranslator {
    private AggregateTranslator() {}

    /**
     * @param input the aggregate's input: constant arguments (a percentile's fraction, a delimiter) are read from the
     *     project that computes them; columns keep their index
     */
    public static AggregateCall translate(org.apache.calcite.rel.core.AggregateCall call, RelNode input) {
        throw new UnsupportedOperationException();
    }

    /** The keys of an ordering. */
    public static List<OrderKey> orderKeys(RelCollation collation) {
        throw new UnsupportedOperationException();
    }

    /** The plan's function of this Calcite aggregate, if it is one. */
    public static Optional<AggregateCall.Function> function(org.apache.calcite.sql.SqlAggFunction function) {
        throw new UnsupportedOperationException();
    }
}
