package dev.millrace.edge.program;

import dev.millrace.edge.program.Term.Kind;
import dev.millrace.edge.program.Term.Operator;
import java.util.List;

/**
 * A node that has its value after it was asked of a row, so that none of them makes an object for it. Of one thread.
 *
 * <p>A truth value is a whole: 1 or 0.
 */
abstract class Evaluation {
    boolean isNull;
    long whole;
    double number;
    String text = "";

    /** @throws ArithmeticException if a computation overflows */
    abstract void of(RowValues values, int row);

    final boolean isTrue() {
        return !isNull && whole == 1;
    }

    final boolean isFalse() {
        return !isNull && whole == 0;
    }

    final void truth(boolean value) {
        isNull = false;
        whole = value ? 1 : 0;
    }

    /** NULL of any kind. */
    static Evaluation nothing() {
        return new Evaluation() {
            @Override
            void of(RowValues values, int row) {
                isNull = true;
            }
        };
    }

    static Evaluation constant(Term term) {
        Evaluation made = new Evaluation() {
            @Override
            void of(RowValues values, int row) {}
        };
        if (term instanceof Term.Truth truth) {
            made.truth(truth.value());
        } else if (term instanceof Term.Whole of) {
            made.whole = of.value();
        } else if (term instanceof Term.Number of) {
            made.number = of.value();
        } else if (term instanceof Term.Text of) {
            made.text = of.value();
        }
        return made;
    }

    static Evaluation column(Kind kind, int column) {
        return new Evaluation() {
            @Override
            void of(RowValues values, int row) {
                isNull = values.isNull(column, row);
                if (isNull) {
                    return;
                }
                switch (kind) {
                    case TRUTH -> truth(values.truth(column, row));
                    case WHOLE -> whole = values.whole(column, row);
                    case NUMBER -> number = values.number(column, row);
                    case TEXT -> text = values.text(column, row);
                }
            }
        };
    }

    static Evaluation call(Term.Call call, List<Evaluation> arguments) {
        Kind kind = call.arguments().get(0).kind();
        return switch (call.operator()) {
            case AND -> junction(arguments, false);
            case OR -> junction(arguments, true);
            case NOT -> not(arguments.get(0));
            case IS_NULL -> isNull(arguments.get(0), true);
            case IS_NOT_NULL -> isNull(arguments.get(0), false);
            case EQ, NE, LT, LE, GT, GE -> comparison(call.operator(), kind, arguments.get(0), arguments.get(1));
            case ADD, SUBTRACT, MULTIPLY ->
                kind == Kind.WHOLE
                        ? wholes(call.operator(), arguments.get(0), arguments.get(1))
                        : numbers(call.operator(), arguments.get(0), arguments.get(1));
            case TO_NUMBER -> toNumber(arguments.get(0));
        };
    }

    /** @param decides the value of one that is that of all: false for AND, true for OR */
    private static Evaluation junction(List<Evaluation> arguments, boolean decides) {
        return new Evaluation() {
            @Override
            void of(RowValues values, int row) {
                boolean unknown = false;
                for (Evaluation argument : arguments) {
                    argument.of(values, row);
                    if (decides ? argument.isTrue() : argument.isFalse()) {
                        truth(decides);
                        return;
                    }
                    unknown |= argument.isNull;
                }
                truth(!decides);
                isNull = unknown;
            }
        };
    }

    private static Evaluation not(Evaluation argument) {
        return new Evaluation() {
            @Override
            void of(RowValues values, int row) {
                argument.of(values, row);
                truth(argument.isFalse());
                isNull = argument.isNull;
            }
        };
    }

    private static Evaluation isNull(Evaluation argument, boolean wanted) {
        return new Evaluation() {
            @Override
            void of(RowValues values, int row) {
                argument.of(values, row);
                truth(argument.isNull == wanted);
            }
        };
    }

    private static Evaluation comparison(Operator operator, Kind kind, Evaluation left, Evaluation right) {
        return new Evaluation() {
            @Override
            void of(RowValues values, int row) {
                left.of(values, row);
                right.of(values, row);
                if (left.isNull || right.isNull) {
                    isNull = true;
                    return;
                }
                int order = switch (kind) {
                    case TRUTH, WHOLE -> Long.compare(left.whole, right.whole);
                    case NUMBER -> order(left.number, right.number);
                    case TEXT -> left.text.equals(right.text) ? 0 : 1; // asked only whether they are the same
                };
                truth(
                        switch (operator) {
                            case EQ -> order == 0;
                            case NE -> order != 0;
                            case LT -> order < 0;
                            case LE -> order <= 0;
                            case GT -> order > 0;
                            case GE -> order >= 0;
                            default -> throw new IllegalStateException(operator + " compares nothing");
                        });
            }
        };
    }

    /** NaN is one value, and beyond all others; zeros are the same. */
    static int order(double a, double b) {
        if (a < b) {
            return -1;
        }
        return a > b ? 1 : a == b ? 0 : Boolean.compare(Double.isNaN(a), Double.isNaN(b));
    }

    private static Evaluation wholes(Operator operator, Evaluation left, Evaluation right) {
        return new Evaluation() {
            @Override
            void of(RowValues values, int row) {
                left.of(values, row);
                right.of(values, row);
                isNull = left.isNull || right.isNull;
                if (!isNull) {
                    whole = switch (operator) {
                        case ADD -> Math.addExact(left.whole, right.whole);
                        case SUBTRACT -> Math.subtractExact(left.whole, right.whole);
                        default -> Math.multiplyExact(left.whole, right.whole);
                    };
                }
            }
        };
    }

    private static Evaluation numbers(Operator operator, Evaluation left, Evaluation right) {
        return new Evaluation() {
            @Override
            void of(RowValues values, int row) {
                left.of(values, row);
                right.of(values, row);
                isNull = left.isNull || right.isNull;
                if (!isNull) {
                    number = switch (operator) {
                        case ADD -> left.number + right.number;
                        case SUBTRACT -> left.number - right.number;
                        default -> left.number * right.number;
                    };
                    boolean wereFinite = Double.isFinite(left.number) && Double.isFinite(right.number);
                    boolean underflow =
                            operator == Operator.MULTIPLY && number == 0 && left.number != 0 && right.number != 0;
                    if (wereFinite && (!Double.isFinite(number) || underflow)) {
                        throw new ArithmeticException("out of range");
                    }
                }
            }
        };
    }

    private static Evaluation toNumber(Evaluation argument) {
        return new Evaluation() {
            @Override
            void of(RowValues values, int row) {
                argument.of(values, row);
                isNull = argument.isNull;
                number = argument.whole;
            }
        };
    }
}
