package dev.millrace.plan.expression;

import java.util.Locale;

/**
 * The rows around a row that a window function sees, in the order of its partition.
 *
 * @param exclusion what is left out of them again
 */
public record Frame(Unit unit, Bound start, Bound end, Exclusion exclusion) {
    /** What bounds count. */
    public enum Unit {
        ROWS,
        /** By the value of the one order key. */
        RANGE,
        /** Rows that tie are one. */
        GROUPS
    }

    /** Where a frame begins or ends. */
    public enum Kind {
        UNBOUNDED_PRECEDING,
        PRECEDING,
        CURRENT_ROW,
        FOLLOWING,
        UNBOUNDED_FOLLOWING
    }

    /** Rows of the frame that do not count. */
    public enum Exclusion {
        NO_OTHERS,
        CURRENT_ROW,
        /** The current row and those that tie with it. */
        GROUP,
        /** Those that tie with the current row. */
        TIES
    }

    /**
     * One end of a frame.
     *
     * @param offset for PRECEDING and FOLLOWING: rows or groups; of RANGE the column that holds, for each row, the order
     *     key's value at which its frame begins or ends; else 0
     */
    public record Bound(Kind kind, long offset) {
        /** Without an offset. */
        public static Bound of(Kind kind) {
            return new Bound(kind, 0);
        }

        public boolean hasOffset() {
            return kind == Kind.PRECEDING || kind == Kind.FOLLOWING;
        }

        @Override
        public String toString() {
            String name = kind.name().replace('_', ' ').toLowerCase(Locale.ROOT);
            return hasOffset() ? offset + " " + name : name;
        }
    }

    /** All rows of the partition. */
    public static final Frame ALL = new Frame(
            Unit.RANGE, Bound.of(Kind.UNBOUNDED_PRECEDING), Bound.of(Kind.UNBOUNDED_FOLLOWING), Exclusion.NO_OTHERS);

    /** What an ORDER BY without a frame means: up to the current row and those that tie with it. */
    public static final Frame TO_CURRENT =
            new Frame(Unit.RANGE, Bound.of(Kind.UNBOUNDED_PRECEDING), Bound.of(Kind.CURRENT_ROW), Exclusion.NO_OTHERS);

    /** Whether {@code bound}'s offset is a column of the input. */
    public boolean isColumn(Bound bound) {
        return unit == Unit.RANGE && bound.hasOffset();
    }

    @Override
    public String toString() {
        return unit.name().toLowerCase(Locale.ROOT) + " between " + start + " and " + end
                + (exclusion == Exclusion.NO_OTHERS
                        ? ""
                        : " exclude " + exclusion.name().replace('_', ' ').toLowerCase(Locale.ROOT));
    }
}
