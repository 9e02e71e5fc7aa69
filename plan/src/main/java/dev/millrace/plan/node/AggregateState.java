package dev.millrace.plan.node;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A state of fixed size that aggregate calls are computed from, shared by the calls of a node that need the same one:
 * {@code avg(x)} and {@code sum(x)} share a sum and a count. All but MIN and MAX are linear in weights.
 *
 * @param kind what is kept
 * @param argument column of the input, or {@link #NONE}
 * @param filter BOOLEAN column of the input, or {@link #NONE}
 * @param distinct whether equal values of the argument count once
 */
public record AggregateState(Kind kind, int argument, int filter, boolean distinct) {
    /** No column. */
    public static final int NONE = -1;

    /** Of so many digits 10^20 numbers fit 128 bits. */
    private static final int MOST_DIGITS_UNCARRIED = 18;

    /** How many rows the group has. */
    public static final AggregateState ROWS = new AggregateState(Kind.COUNT, NONE, NONE, false);

    /** What is kept, and as which columns a partial phase emits it. */
    public enum Kind {
        /** Rows whose argument is not NULL; BIGINT. */
        COUNT,
        /** Rows whose argument is true; BIGINT. */
        TRUES,
        /** The sum of SMALLINT or INTEGER; BIGINT. */
        SUM_LONG,
        /** The sum of BIGINT or of NUMERIC of few digits in 128 bits; NUMERIC(38,s). */
        SUM_WIDE,
        /** The sum of NUMERIC in 128 bits, and how often those overflowed, upwards less downwards; NUMERIC(38,s) and BIGINT. */
        SUM_CARRIED,
        /** The sum of doubles as two that do not overlap; twice DOUBLE. */
        SUM_DOUBLE,
        /** The same, and the numbers of NaN, Infinity and -Infinity, which could not be retracted otherwise; and 3 BIGINT. */
        SUM_DOUBLE_RETRACTABLE,
        /** The sum of the squares of exact numbers in 320 bits; 5 BIGINT, least significant first. */
        SQUARES_WIDE,
        /** The sum of the squares of doubles; twice DOUBLE. */
        SQUARES_DOUBLE,
        /** The sum of BIGNUM, and what of it can be taken back: {@code dev.millrace.number.BignumSum}; BYTEA. */
        SUM_BIGNUM,
        /** The sum of the squares of BIGNUM, likewise. */
        SQUARES_BIGNUM,
        /** Months, days and microseconds, of which 128 bits, least significant first; 4 BIGINT. */
        SUM_INTERVAL,
        /** The least value; of the argument's type. */
        MIN,
        /** The greatest value. */
        MAX
    }

    /**
     * Whether a call can be computed from states alone. The others keep their values.
     *
     * @param retractions whether input weights may be negative
     */
    public static boolean suffices(AggregateCall call, boolean retractions) {
        return switch (call.function()) {
            case COUNT, SUM, AVG, STDDEV_POP, STDDEV_SAMP, VAR_POP, VAR_SAMP, BOOL_AND, BOOL_OR -> true;
            case MIN, MAX -> !retractions;
            case FIRST_VALUE,
                    LAST_VALUE,
                    STRING_AGG,
                    ARRAY_AGG,
                    PERCENTILE_CONT,
                    PERCENTILE_DISC,
                    APPROX_COUNT_DISTINCT,
                    USER -> false;
        };
    }

    /** Whether all calls can be computed in two phases. */
    public static boolean canSplit(List<AggregateCall> calls, boolean retractions) {
        return calls.stream()
                .allMatch(call -> suffices(call, retractions) && !(call.distinct() && dependsOnDuplicates(call)));
    }

    private static boolean dependsOnDuplicates(AggregateCall call) {
        return switch (call.function()) {
            case MIN, MAX, BOOL_AND, BOOL_OR, APPROX_COUNT_DISTINCT -> false;
            default -> true;
        };
    }

    /** The states of all calls that {@link #suffices} holds for, each once, in order of first use; ROWS first. */
    public static List<AggregateState> of(List<AggregateCall> calls, Schema input, boolean retractions) {
        List<AggregateState> states = new ArrayList<>();
        states.add(ROWS);
        for (AggregateCall call : calls) {
            if (suffices(call, retractions)) {
                for (AggregateState state : of(call, input, retractions)) {
                    if (!states.contains(state)) {
                        states.add(state);
                    }
                }
            }
        }
        return states;
    }

    /** The states of a call: the number of values first, then what its function needs. */
    public static List<AggregateState> of(AggregateCall call, Schema input, boolean retractions) {
        int filter = call.filter().orElse(NONE);
        int argument = call.arguments().isEmpty() ? NONE : call.arguments().get(0);
        boolean distinct = call.distinct() && dependsOnDuplicates(call);
        boolean neverNull = argument == NONE || !input.field(argument).nullable();
        List<AggregateState> states = new ArrayList<>();
        states.add(new AggregateState(Kind.COUNT, neverNull && !distinct ? NONE : argument, filter, distinct));
        for (Kind kind : kinds(call, argument == NONE ? DataType.BIGINT : input.type(argument), retractions)) {
            states.add(new AggregateState(kind, argument, filter, distinct));
        }
        return states;
    }

    private static List<Kind> kinds(AggregateCall call, DataType argument, boolean retractions) {
        return switch (call.function()) {
            case SUM, AVG -> List.of(sum(argument, retractions));
            case STDDEV_POP, STDDEV_SAMP, VAR_POP, VAR_SAMP -> List.of(sum(argument, retractions), squares(argument));
            case MIN -> List.of(Kind.MIN);
            case MAX -> List.of(Kind.MAX);
            case BOOL_AND, BOOL_OR -> List.of(Kind.TRUES);
            default -> List.of();
        };
    }

    private static Kind squares(DataType argument) {
        return switch (argument.kind()) {
            case REAL, DOUBLE -> Kind.SQUARES_DOUBLE;
            case BIGNUM -> Kind.SQUARES_BIGNUM;
            default -> Kind.SQUARES_WIDE;
        };
    }

    private static Kind sum(DataType argument, boolean retractions) {
        return switch (argument.kind()) {
            case SMALLINT, INTEGER -> Kind.SUM_LONG;
            case BIGINT -> Kind.SUM_WIDE;
            case NUMERIC -> argument.precision() <= MOST_DIGITS_UNCARRIED ? Kind.SUM_WIDE : Kind.SUM_CARRIED;
            case BIGNUM -> Kind.SUM_BIGNUM;
            case REAL, DOUBLE -> retractions ? Kind.SUM_DOUBLE_RETRACTABLE : Kind.SUM_DOUBLE;
            case INTERVAL -> Kind.SUM_INTERVAL;
            default -> throw new IllegalArgumentException("sum of " + argument);
        };
    }

    /** The columns of a partial phase's output that carry this state. */
    public List<Field> columns(Schema input) {
        DataType type = argument == NONE ? DataType.BIGINT : input.type(argument);
        return switch (kind) {
            case COUNT, TRUES, SUM_LONG -> fields(1, DataType.BIGINT);
            case SUM_WIDE -> fields(1, DataType.numeric(DataType.MAX_NUMERIC_PRECISION, type.scale()));
            case SUM_DOUBLE, SQUARES_DOUBLE -> fields(2, DataType.DOUBLE);
            case SUM_DOUBLE_RETRACTABLE -> {
                List<Field> fields = new ArrayList<>(fields(2, DataType.DOUBLE));
                fields.addAll(fields(3, DataType.BIGINT));
                yield fields;
            }
            case SUM_CARRIED -> {
                List<Field> fields =
                        new ArrayList<>(fields(1, DataType.numeric(DataType.MAX_NUMERIC_PRECISION, type.scale())));
                fields.addAll(fields(1, DataType.BIGINT));
                yield fields;
            }
            case SQUARES_WIDE -> fields(5, DataType.BIGINT);
            case SUM_BIGNUM, SQUARES_BIGNUM -> fields(1, DataType.BYTEA);
            case SUM_INTERVAL -> fields(4, DataType.BIGINT);
            case MIN, MAX -> List.of(new Field(name(), type, true));
        };
    }

    private List<Field> fields(int count, DataType type) {
        return Collections.nCopies(count, new Field(name(), type, false));
    }

    private String name() {
        return "$" + kind.name().toLowerCase(java.util.Locale.ROOT);
    }
}
