package dev.millrace.plan.expression;

import dev.millrace.number.Bignum;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.util.List;
import java.util.Objects;
import java.util.UUID;

/** A scalar expression over the columns of one input row. Implicit casts are already explicit {@link Cast}s. */
public sealed interface Expression {
    /** In the name of a user's function: it gives another value each time; behind it is which of its calls this is. */
    String EACH_TIME = "#";

    DataType type();

    /** False promises that the value is never NULL. */
    boolean nullable();

    /** Column {@code index} of the input. */
    record Column(int index, DataType type, boolean nullable) implements Expression {
        @Override
        public String toString() {
            return "$" + index;
        }
    }

    /**
     * A constant. {@code value} by kind: BOOLEAN Boolean; SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP and
     * TIMESTAMPTZ Long (in the type's unit); REAL and DOUBLE Double; NUMERIC BigDecimal of the type's scale; BIGNUM {@link Bignum}; text kinds
     * String (JSONB in normal form); BYTEA {@code List<Byte>}; INTERVAL {@link IntervalValue}; UUID UUID; ARRAY and ROW a
     * list of such values, an empty Optional for NULL among them. NULL is {@link Null}.
     *
     * <p>Literals are what distinguishes queries of one fingerprint: compiled code reads them from fields.
     */
    record Literal(Object value, DataType type) implements Expression {
        public Literal {
            Class<?> expected = switch (type.kind()) {
                case BOOLEAN -> Boolean.class;
                case SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> Long.class;
                case REAL, DOUBLE -> Double.class;
                case NUMERIC -> BigDecimal.class;
                case BIGNUM -> Bignum.class;
                case TEXT, VARCHAR, CHAR, JSONB -> String.class;
                case BYTEA, ARRAY, ROW -> List.class;
                case INTERVAL -> IntervalValue.class;
                case UUID -> UUID.class;
                case NULL -> throw new IllegalArgumentException("a NULL is Expression.Null");
            };
            if (!expected.isInstance(value)) {
                throw new IllegalArgumentException(
                        "a literal of " + type + " holds " + expected.getSimpleName() + ", not " + value);
            }
            if (value instanceof BigDecimal decimal && decimal.scale() != type.scale()) {
                throw new IllegalArgumentException(decimal + " has scale " + decimal.scale() + ", its type is " + type);
            }
        }

        @Override
        public boolean nullable() {
            return false;
        }

        @Override
        public String toString() {
            return value instanceof String text ? "'" + text.replace("'", "''") + "'" : value.toString();
        }
    }

    /** NULL of a type. */
    record Null(DataType type) implements Expression {
        @Override
        public boolean nullable() {
            return true;
        }

        @Override
        public String toString() {
            return "NULL";
        }
    }

    /**
     * A function or operator of {@link dev.millrace.plan.function.FunctionCatalog} by its canonical name; operators have
     * names too ({@code add}, {@code eq}, {@code and}).
     */
    record Call(String function, List<Expression> arguments, DataType type, boolean nullable) implements Expression {
        public Call {
            Objects.requireNonNull(function);
            arguments = List.copyOf(arguments);
        }

        @Override
        public String toString() {
            return function + "("
                    + String.join(
                            ", ", arguments.stream().map(Expression::toString).toList()) + ")";
        }
    }

    /** The result of the first branch whose condition is true, else {@code otherwise}; branches are of one type. */
    record Case(List<Branch> branches, Expression otherwise, DataType type, boolean nullable) implements Expression {
        public Case {
            branches = List.copyOf(branches);
        }

        /** WHEN condition THEN result. */
        public record Branch(Expression condition, Expression result) {}

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder("CASE");
            for (Branch branch : branches) {
                text.append(" WHEN ").append(branch.condition).append(" THEN ").append(branch.result);
            }
            return text.append(" ELSE ").append(otherwise).append(" END").toString();
        }
    }

    /** {@code input} converted to {@code type}, failing where PostgreSQL's cast fails. */
    record Cast(Expression input, DataType type) implements Expression {
        @Override
        public boolean nullable() {
            return input.nullable() || input.type().mayBecomeNullAs(type);
        }

        @Override
        public String toString() {
            return input + "::" + type;
        }
    }
}
