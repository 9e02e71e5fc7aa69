package dev.millrace.connector;

import java.util.Optional;

/**
 * A comparison of a column with a constant that a reader may use to skip rows; the engine filters again. NULL never
 * matches, except {@code IS_NULL}.
 *
 * @param column of the relation's schema
 * @param value as {@code Expression.Literal} holds values; empty for IS_NULL and IS_NOT_NULL
 */
public record ColumnPredicate(int column, Comparison comparison, Optional<Object> value) {
    /** The comparison, column on the left. */
    public enum Comparison {
        EQ,
        NE,
        LT,
        LE,
        GT,
        GE,
        IS_NULL,
        IS_NOT_NULL
    }
}
