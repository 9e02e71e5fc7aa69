package dev.millrace.expressions.kernel;

import dev.millrace.error.MillraceException;
import dev.millrace.operator.OperatorContext;
import java.util.Optional;

/** Which failures are data: they are noted with a weight, and go when what failed is taken back. */
public final class RowFailures {
    private RowFailures() {}

    /**
     * What to note of a failure: one of values. What stops or bounds the query is thrown on, and so is any failure where the host
     * keeps none.
     */
    public static MillraceException kept(RuntimeException failure, OperatorContext context) {
        RuntimeException why = KernelCode.explained(failure);
        if (!context.keepsFailedRows() || !(why instanceof MillraceException told) || !isOfData(told)) {
            throw why;
        }
        return told;
    }

    /** What the user is told of a failure in values; empty for what stops or bounds the query, and for defects. */
    public static Optional<MillraceException> ofData(RuntimeException failure) {
        return KernelCode.explained(failure) instanceof MillraceException told && isOfData(told)
                ? Optional.of(told)
                : Optional.empty();
    }

    /** Whether this is about values of a row, and not about who stops or bounds the query. */
    public static boolean isOfData(MillraceException failure) {
        return failure.fault() == MillraceException.Fault.USER
                && !failure.sqlState().code().startsWith("57");
    }
}
