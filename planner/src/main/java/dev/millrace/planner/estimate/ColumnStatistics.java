package dev.millrace.planner.estimate;

import java.util.OptionalDouble;

/** What is known of the values of a column, perhaps from a sample, as fractions of the rows. */
public interface ColumnStatistics {
    /** How many different values there are, NULL left out; at least 1. */
    double distinct();

    /** The rows that are NULL. */
    double nullFraction();

    /**
     * The rows whose value equals a literal's.
     *
     * @param value as {@link dev.millrace.plan.expression.Expression.Literal} holds it, of the column's type
     */
    OptionalDouble equalTo(Object value);

    /** The rows whose value is less than a literal's; empty where values are not kept in order. */
    OptionalDouble below(Object value);
}
