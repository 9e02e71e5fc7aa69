package dev.millrace.engine.code;

import dev.millrace.error.MillraceException;
import dev.millrace.operator.OperatorContext;

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

    /** Whether this is about values of a row, and not about who stops or bounds the query. */
    public static boolean isOfData(MillraceException failure) {
        return failure.fault() == MillraceException.Fault.USER
                && !failure.sqlState().code().startsWith("57");
    }
}
