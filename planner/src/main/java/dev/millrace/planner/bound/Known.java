package dev.millrace.planner.bound;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.type.DataType;

/** What is known of a true value where what is shown may be another. */
sealed interface Known {
    /** Nothing, of a value of a type. */
    static Known nothing(DataType type) {
        return type.kind() == DataType.Kind.BOOLEAN ? Verdict.NOTHING : Interval.NOTHING;
    }

    /**
     * Of a number (of other values {@link #NOTHING}): its ends, DOUBLE PRECISION, in SQL's order of these. They are NULL only where the true value is.
     *
     * @param mayBeNull whether one of the true and the shown value may be NULL, and the other not
     */
    record Interval(Expression low, Expression high, boolean mayBeNull) implements Known {
        private static final int MOST_PARTS = 3_000; // of an expression: each operation takes both ends of its operands

        static final Interval NOTHING = new Interval(
                new Literal(Double.NEGATIVE_INFINITY, DataType.DOUBLE), new Literal(Double.NaN, DataType.DOUBLE), true);

        /** The same, or nothing if that took too much to compute. */
        Interval bounded() {
            return Expressions.size(low) + Expressions.size(high) > MOST_PARTS ? NOTHING : this;
        }
    }

    /** Of a truth value: what it may be, and what it is for certain. BOOLEAN, never NULL; a true value of NULL is neither true nor false. */
    record Verdict(Expression mayBeTrue, Expression isTrue, Expression mayBeFalse, Expression isFalse)
            implements Known {
        private static final Expression YES = Expressions.literal(true);
        private static final Expression NO = Expressions.literal(false);

        static final Verdict NOTHING = new Verdict(YES, NO, YES, NO);

        /** Of a truth value that is shown as it is. */
        static Verdict exact(Expression value) {
            if (Expressions.isLiteral(value, true)) {
                return new Verdict(YES, YES, NO, NO);
            }
            Expression isTrue = Expressions.test("is_true", value);
            Expression isFalse = Expressions.test("is_false", value);
            return new Verdict(isTrue, isTrue, isFalse, isFalse);
        }

        Verdict negated() {
            return new Verdict(mayBeFalse, isFalse, mayBeTrue, isTrue);
        }

        /** Of whether this is true, where NULL is not. */
        Verdict known() {
            return new Verdict(mayBeTrue, isTrue, Expressions.test("not", isTrue), Expressions.test("not", mayBeTrue));
        }
    }
}
