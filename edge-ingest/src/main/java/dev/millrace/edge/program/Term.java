package dev.millrace.edge.program;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.List;

/** A node of a condition. */
public sealed interface Term {
    /** How a value is held. */
    enum Kind {
        TRUTH,
        WHOLE,
        NUMBER,
        TEXT
    }

    /** What is done with the values of others. */
    enum Operator {
        AND,
        OR,
        NOT,
        EQ,
        NE,
        LT,
        LE,
        GT,
        GE,
        IS_NULL,
        IS_NOT_NULL,
        ADD,
        SUBTRACT,
        MULTIPLY,
        TO_NUMBER
    }

    Kind kind();

    /** A column by its name; NULL where the device has none of it. */
    record Column(Kind kind, String name) implements Term {}

    record Truth(boolean value) implements Term {
        @Override
        public Kind kind() {
            return Kind.TRUTH;
        }
    }

    record Whole(long value) implements Term {
        @Override
        public Kind kind() {
            return Kind.WHOLE;
        }
    }

    record Number(double value) implements Term {
        @Override
        public Kind kind() {
            return Kind.NUMBER;
        }
    }

    record Text(String value) implements Term {
        @Override
        public Kind kind() {
            return Kind.TEXT;
        }
    }

    /** An operator over values that it is for. */
    record Call(Operator operator, List<Term> arguments) implements Term {
        /** @throws MillraceException 22023 if it is not for so many, or not for these kinds */
        public Call {
            arguments = List.copyOf(arguments);
            if (!fits(operator, arguments)) {
                throw MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE,
                        "a program for devices has no " + operator + " of "
                                + arguments.stream().map(Term::kind).toList());
            }
        }

        private static boolean fits(Operator operator, List<Term> arguments) {
            int count = arguments.size();
            if (count == 0) {
                return false;
            }
            Kind first = arguments.get(0).kind();
            boolean alike = arguments.stream().allMatch(term -> term.kind() == first);
            return switch (operator) {
                case AND, OR -> alike && first == Kind.TRUTH;
                case NOT -> count == 1 && first == Kind.TRUTH;
                case EQ, NE -> count == 2 && alike;
                case LT, LE, GT, GE -> count == 2 && alike && first != Kind.TEXT;
                case IS_NULL, IS_NOT_NULL -> count == 1;
                case ADD, SUBTRACT, MULTIPLY -> count == 2 && alike && (first == Kind.WHOLE || first == Kind.NUMBER);
                case TO_NUMBER -> count == 1 && first == Kind.WHOLE;
            };
        }

        @Override
        public Kind kind() {
            return switch (operator) {
                case AND, OR, NOT, EQ, NE, LT, LE, GT, GE, IS_NULL, IS_NOT_NULL -> Kind.TRUTH;
                case ADD, SUBTRACT, MULTIPLY -> arguments.get(0).kind();
                case TO_NUMBER -> Kind.NUMBER;
            };
        }
    }
}
