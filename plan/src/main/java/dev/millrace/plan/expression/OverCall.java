package dev.millrace.plan.expression;

import dev.millrace.type.DataType;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * One window function over the rows of a partition in their order.
 *
 * @param aggregate what AGGREGATE computes over each frame; its arguments are columns of the same input
 * @param arguments columns of the input: of LAG, LEAD and the VALUE functions the value, of LAG and LEAD then the default,
 *     read at the current row, if there is one; of EMA the value, DOUBLE, and then its time, if it is one by time
 * @param parameter the offset of LAG and LEAD, which may be negative, the position of NTH_VALUE, the buckets of NTILE, of EMA
 *     without a time the bits of the newest value's share, with one the microseconds in which a weight halves; else 0
 * @param ignoreNulls whether rows whose value is NULL are passed over (LAG, LEAD and the VALUE functions)
 * @param frame of AGGREGATE and the VALUE functions; the others have none that matters
 */
public record OverCall(
        Function function,
        Optional<AggregateCall> aggregate,
        List<Integer> arguments,
        long parameter,
        boolean ignoreNulls,
        Frame frame,
        DataType type,
        boolean nullable) {

    /** The window functions. */
    public enum Function {
        ROW_NUMBER,
        RANK,
        DENSE_RANK,
        /** (rank - 1) / (rows - 1), 0 of a single row; DOUBLE. */
        PERCENT_RANK,
        /** Rows up to this one and its ties / rows; DOUBLE. */
        CUME_DIST,
        /** The number of the row's bucket of as many as equal buckets as asked for; INTEGER. */
        NTILE,
        LAG,
        LEAD,
        FIRST_VALUE,
        LAST_VALUE,
        NTH_VALUE,
        /**
         * The exponential moving average: of the first value that value, then average + share * (value - average), where the share
         * is given, or 1 - 2^(-time since the last value / half-life); a NULL changes nothing. DOUBLE.
         */
        EMA,
        AGGREGATE;

        /** Whether the function depends on the frame. */
        public boolean isFramed() {
            return this == FIRST_VALUE || this == LAST_VALUE || this == NTH_VALUE || this == AGGREGATE;
        }

        /** Whether the function has a parameter. */
        public boolean hasParameter() {
            return this == LAG || this == LEAD || this == NTH_VALUE || this == NTILE || this == EMA;
        }
    }

    public OverCall {
        arguments = List.copyOf(arguments);
        if (aggregate.isPresent() != (function == Function.AGGREGATE)) {
            throw new IllegalArgumentException(function + " with " + aggregate);
        }
    }

    /** Whether the result of a row depends on rows behind those that tie with it. */
    public boolean looksAhead() {
        return switch (function) {
            case ROW_NUMBER, RANK, DENSE_RANK, EMA -> false;
            case PERCENT_RANK, CUME_DIST, NTILE -> true;
            case LAG -> parameter < 0;
            case LEAD -> parameter > 0;
            case FIRST_VALUE, LAST_VALUE, NTH_VALUE, AGGREGATE ->
                frame.end().kind() == Frame.Kind.FOLLOWING
                        || frame.end().kind() == Frame.Kind.UNBOUNDED_FOLLOWING
                        || frame.unit() != Frame.Unit.RANGE && frame.start().kind() == Frame.Kind.FOLLOWING;
        };
    }

    /** Whether the result of a row depends on rows at most so far before it as {@code frame} or parameter say, or on the last result. */
    public boolean looksBackBounded() {
        return switch (function) {
            case PERCENT_RANK, CUME_DIST, NTILE -> false;
            case ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD, LAST_VALUE, EMA -> true;
            case FIRST_VALUE, NTH_VALUE, AGGREGATE -> frame.start().kind() != Frame.Kind.UNBOUNDED_PRECEDING;
        };
    }

    private String parameterText() {
        boolean isShare = function == Function.EMA && arguments.size() == 1;
        return isShare ? Double.toString(Double.longBitsToDouble(parameter)) : Long.toString(parameter);
    }

    @Override
    public String toString() {
        String name = aggregate
                .map(AggregateCall::toString)
                .orElse(function.name().toLowerCase(Locale.ROOT) + "("
                        + String.join(
                                ", ",
                                arguments.stream().map(column -> "$" + column).toList())
                        + (function.hasParameter() ? ", " + parameterText() : "") + ")");
        return name + (ignoreNulls ? " ignore nulls" : "") + (function.isFramed() ? " " + frame : "");
    }
}
