package dev.millrace.plan.match;

import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.type.DataType;
import java.util.OptionalInt;
import java.util.function.IntUnaryOperator;

/**
 * A value that a condition or measure takes from a match and the rows around it. {@code symbol} is a place in
 * {@link MatchSpec#symbols}; "so far" means up to the row at hand: the one a condition is tested for, or the one shown.
 */
public sealed interface MatchValue {
    DataType type();

    boolean nullable();

    /** The same value over input columns renumbered. */
    MatchValue renumber(IntUnaryOperator column);

    /** The input column it reads, if any. */
    OptionalInt column();

    /**
     * Something of one row: of the rows mapped to {@code symbol}, the first or last so far (or of the whole match), moved
     * {@code steps} on within them (back from the last), then {@code shift} rows on in the partition. NULL when there is
     * no such row.
     */
    record Navigation(int symbol, boolean last, int steps, int shift, boolean whole, Content content)
            implements MatchValue {
        @Override
        public DataType type() {
            return content.type();
        }

        @Override
        public boolean nullable() {
            return !(content instanceof Content.Exists);
        }

        @Override
        public Navigation renumber(IntUnaryOperator column) {
            return content instanceof Content.Column of
                    ? new Navigation(
                            symbol,
                            last,
                            steps,
                            shift,
                            whole,
                            new Content.Column(column.applyAsInt(of.column()), of.type()))
                    : this;
        }

        @Override
        public OptionalInt column() {
            return content instanceof Content.Column of ? OptionalInt.of(of.column()) : OptionalInt.empty();
        }
    }

    /** What is taken of the row that a {@link Navigation} finds. */
    sealed interface Content {
        DataType type();

        /** A column's value. */
        record Column(int column, DataType type) implements Content {}

        /** The name of the variable that the row is mapped to; NULL for a row outside the match. */
        record Classifier() implements Content {
            @Override
            public DataType type() {
                return DataType.TEXT;
            }
        }

        /** Whether there is such a row; never NULL. */
        record Exists() implements Content {
            @Override
            public DataType type() {
                return DataType.BOOLEAN;
            }
        }
    }

    /** A column of the row shown: with ONE ROW PER MATCH that at which the match began, else the row itself. */
    record Shown(int index, DataType type, boolean nullable) implements MatchValue {
        @Override
        public Shown renumber(IntUnaryOperator column) {
            return new Shown(column.applyAsInt(index), type, nullable);
        }

        @Override
        public OptionalInt column() {
            return OptionalInt.of(index);
        }
    }

    /**
     * COUNT, SUM, AVG, MIN or MAX over the rows mapped to {@code symbol} so far, or in the whole match; COUNT without
     * argument counts rows.
     */
    record Aggregate(Function function, int symbol, OptionalInt argument, boolean whole, DataType type)
            implements MatchValue {
        @Override
        public boolean nullable() {
            return function != Function.COUNT;
        }

        @Override
        public Aggregate renumber(IntUnaryOperator column) {
            return argument.isEmpty()
                    ? this
                    : new Aggregate(
                            function, symbol, OptionalInt.of(column.applyAsInt(argument.getAsInt())), whole, type);
        }

        @Override
        public OptionalInt column() {
            return argument;
        }
    }

    /** The match's number in its partition, from 1; of a row in no match NULL. */
    record Number() implements MatchValue {
        @Override
        public DataType type() {
            return DataType.BIGINT;
        }

        @Override
        public boolean nullable() {
            return true;
        }

        @Override
        public Number renumber(IntUnaryOperator column) {
            return this;
        }

        @Override
        public OptionalInt column() {
            return OptionalInt.empty();
        }
    }

    /** Whether the row shown is of a match, empty ones included; never NULL. */
    record Matched() implements MatchValue {
        @Override
        public DataType type() {
            return DataType.BOOLEAN;
        }

        @Override
        public boolean nullable() {
            return false;
        }

        @Override
        public Matched renumber(IntUnaryOperator column) {
            return this;
        }

        @Override
        public OptionalInt column() {
            return OptionalInt.empty();
        }
    }
}
