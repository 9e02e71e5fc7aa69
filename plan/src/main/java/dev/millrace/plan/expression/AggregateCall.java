package dev.millrace.plan.expression;

import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * One aggregate over a group of rows.
 *
 * @param function which one
 * @param arguments columns of the input
 * @param distinct whether equal argument values count once
 * @param filter a BOOLEAN column of the input; rows where it is not true are skipped
 * @param ordering order of the rows for ordered-set and order-sensitive functions (percentiles, string_agg, array_agg,
 *     first_value, last_value); empty means arrival order
 * @param parameters constants: percentile fraction, string_agg delimiter
 * @param type of the result
 * @param code of a user's aggregate: what plans call it by
 */
public record AggregateCall(
        Function function,
        List<Integer> arguments,
        boolean distinct,
        OptionalInt filter,
        List<OrderKey> ordering,
        List<Literal> parameters,
        DataType type,
        Optional<String> code) {

    /** The aggregate functions. All but COUNT and APPROX_COUNT_DISTINCT give NULL over no (non-NULL) rows. */
    public enum Function {
        /** Rows, or rows whose argument is not NULL; BIGINT. */
        COUNT,
        /** BIGINT of SMALLINT and INTEGER, NUMERIC(38,0) of BIGINT, NUMERIC(38,s) of NUMERIC, BIGNUM of BIGNUM, else the argument's type. */
        SUM,
        /** NUMERIC(38,16) of integers, NUMERIC(38,max(16,s)) of NUMERIC, BIGNUM of BIGNUM, or of all exact
         * numbers where NUMERIC is unlimited, DOUBLE of REAL and DOUBLE, INTERVAL of INTERVAL. */
        AVG,
        MIN,
        MAX,
        /** As AVG in type. Exact sums for exact types. */
        STDDEV_POP,
        STDDEV_SAMP,
        VAR_POP,
        VAR_SAMP,
        BOOL_AND,
        BOOL_OR,
        /** The argument of the first row in order, NULL included. */
        FIRST_VALUE,
        LAST_VALUE,
        STRING_AGG,
        ARRAY_AGG,
        PERCENTILE_CONT,
        PERCENTILE_DISC,
        /** HyperLogLog (DataSketches), 12 bits: standard error 1.6 %; BIGINT. */
        APPROX_COUNT_DISTINCT,
        /** A user's, over a ROW of its arguments, whose state is kept; what it gives over no rows is its own business. */
        USER
    }

    public AggregateCall {
        arguments = List.copyOf(arguments);
        ordering = List.copyOf(ordering);
        parameters = List.copyOf(parameters);
        if (code.isPresent() != (function == Function.USER)) {
            throw new IllegalArgumentException("code of " + function + ": " + code);
        }
    }

    /** A call of one of ours. */
    public AggregateCall(
            Function function,
            List<Integer> arguments,
            boolean distinct,
            OptionalInt filter,
            List<OrderKey> ordering,
            List<Literal> parameters,
            DataType type) {
        this(function, arguments, distinct, filter, ordering, parameters, type, Optional.empty());
    }

    /** What the aggregate is called by: of a user's function its name. */
    public String name() {
        return code.map(key -> key.substring(key.indexOf(':') + 1, key.indexOf('@')))
                .orElseGet(() -> function.name().toLowerCase(Locale.ROOT));
    }

    public boolean nullable() {
        return function != Function.COUNT && function != Function.APPROX_COUNT_DISTINCT;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(name()).append('(');
        if (distinct) {
            text.append("DISTINCT ");
        }
        text.append(
                arguments.isEmpty() && function == Function.COUNT
                        ? "*"
                        : String.join(
                                ", ",
                                arguments.stream().map(column -> "$" + column).toList()));
        parameters.forEach(parameter -> text.append(", ").append(parameter));
        if (!ordering.isEmpty()) {
            text.append(" ORDER BY ")
                    .append(String.join(
                            ", ", ordering.stream().map(OrderKey::toString).toList()));
        }
        text.append(')');
        filter.ifPresent(column -> text.append(" FILTER $").append(column));
        return text.toString();
    }
}
