package dev.millrace.engine.join;

import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * An expression over one column whose values have words in the same order, signed: a column, perhaps widened by a cast,
 * perhaps with a constant added. Where a word cannot tell two values apart, as of long texts or of numbers that do not fit,
 * they have the same one.
 *
 * @param column of the join's output columns, left then right
 * @param reading how the column's slot becomes a word
 * @param factor by which a whole number is multiplied to become a NUMERIC
 * @param offset added to the word
 */
record RangeValue(int column, Reading reading, long factor, long offset) {
    enum Reading {
        WHOLE,
        WHOLE_AS_DOUBLE,
        DOUBLE,
        DECIMAL,
        TEXT
    }

    private static final long DAY_MICROS = 86_400_000_000L;

    /** The value of an expression, if it is such a one. */
    static Optional<RangeValue> of(Expression expression) {
        if (expression instanceof Expression.Column column) {
            return reading(column.type()).map(reading -> new RangeValue(column.index(), reading, 1, 0));
        }
        if (expression instanceof Expression.Cast cast) {
            return of(cast.input()).flatMap(value -> value.cast(cast.input().type(), cast.type()));
        }
        if (expression instanceof Expression.Call call
                && (call.function().equals("add") || call.function().equals("subtract"))) {
            Expression first = call.arguments().get(0);
            Expression second = call.arguments().get(1);
            boolean isAddition = call.function().equals("add");
            return isAddition && first instanceof Expression.Literal
                    ? of(second).flatMap(value -> value.plus(first, call.type(), 1))
                    : of(first).flatMap(value -> value.plus(second, call.type(), isAddition ? 1 : -1));
        }
        return Optional.empty();
    }

    /** A timestamp, and so much later. */
    static RangeValue ofTime(int column, long micros) {
        return new RangeValue(column, Reading.WHOLE, 1, micros);
    }

    /** The value with a constant of this type's arithmetic added {@code times} times, 1 or -1. */
    Optional<RangeValue> plus(Expression constant, DataType type, int times) {
        OptionalLong by = constant(constant, type);
        return by.isEmpty() || reading != Reading.WHOLE || factor != 1
                ? Optional.empty()
                : Optional.of(new RangeValue(column, reading, factor, add(offset, times * by.getAsLong())));
    }

    private static Optional<Reading> reading(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN, SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> Optional.of(Reading.WHOLE);
            case REAL, DOUBLE -> Optional.of(Reading.DOUBLE);
            case NUMERIC -> Optional.of(Reading.DECIMAL);
            case TEXT, VARCHAR -> Optional.of(Reading.TEXT);
            case BIGNUM, CHAR, JSONB, BYTEA, INTERVAL, UUID, ARRAY, ROW, NULL -> Optional.empty();
        };
    }

    private static boolean isWhole(DataType type) {
        return type.kind() == Kind.SMALLINT || type.kind() == Kind.INTEGER || type.kind() == Kind.BIGINT;
    }

    private Optional<RangeValue> cast(DataType from, DataType to) {
        if (isWhole(from) && isWhole(to) || from.kind() == Kind.REAL && to.kind() == Kind.DOUBLE) {
            return Optional.of(this); // narrowing fails or keeps the value
        }
        if (isWhole(from) && to.kind() == Kind.DOUBLE && offset == 0) {
            return Optional.of(new RangeValue(column, Reading.WHOLE_AS_DOUBLE, 1, 0));
        }
        if (isWhole(from) && to.kind() == Kind.NUMERIC && to.scale() <= 18 && offset == 0) {
            return Optional.of(new RangeValue(column, Reading.WHOLE, tenTo(to.scale()), 0));
        }
        boolean isText = reading == Reading.TEXT && (to.kind() == Kind.TEXT || to.kind() == Kind.VARCHAR);
        return isText && to.equals(DataType.TEXT) ? Optional.of(this) : Optional.empty();
    }

    private static long tenTo(int exponent) {
        long power = 1;
        for (int i = 0; i < exponent; i++) {
            power *= 10;
        }
        return power;
    }

    /** What adding a constant to a value of this type adds to its word. */
    private static OptionalLong constant(Expression expression, DataType type) {
        if (!(expression instanceof Expression.Literal literal)) {
            return OptionalLong.empty();
        }
        boolean isNumber = isWhole(type) || type.kind() == Kind.DATE;
        if (isNumber && literal.value() instanceof Long number && number != Long.MIN_VALUE) {
            return OptionalLong.of(number);
        }
        boolean isTime = type.kind() == Kind.TIMESTAMP || type.kind() == Kind.TIMESTAMPTZ;
        if (isTime && literal.value() instanceof IntervalValue interval && interval.months() == 0) {
            return interval.days() == 0 || type.kind() == Kind.TIMESTAMP // else a day's length is the time zone's
                    ? OptionalLong.of(interval.days() * DAY_MICROS + interval.micros())
                    : OptionalLong.empty();
        }
        return OptionalLong.empty();
    }

    private static long add(long a, long b) {
        long sum = a + b;
        return ((a ^ sum) & (b ^ sum)) < 0 ? (a < 0 ? Long.MIN_VALUE : Long.MAX_VALUE) : sum;
    }

    /** Whether the words of two values compare as the values do: those of one type, and all texts. */
    boolean comparesWith(RangeValue other, boolean areOfOneType) {
        return areOfOneType || reading == Reading.TEXT && other.reading == Reading.TEXT;
    }

    /** Whether different values have different words, but for the least and the greatest word. */
    boolean isExact() {
        return reading != Reading.TEXT;
    }

    /**
     * The word of a row's value, which is not NULL.
     *
     * @param first the first column of the row's side
     */
    long word(RowCodec codec, int first, long row) {
        long slot = row + codec.slot(column - first);
        return switch (reading) {
            case WHOLE -> {
                long value = Memory.getLong(slot);
                yield factor == 1 ? add(value, offset) : times(value);
            }
            case WHOLE_AS_DOUBLE -> ordered(Memory.getLong(slot));
            case DOUBLE -> ordered(Memory.getDouble(slot));
            case DECIMAL -> {
                long low = Memory.getLong(slot);
                long high = Memory.getLong(slot + 8);
                yield high == low >> 63 ? low : high < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
            }
            case TEXT ->
                Long.reverseBytes(ByteSlots.low(row + Memory.getInt(slot), Memory.getInt(slot + 4))) ^ Long.MIN_VALUE;
        };
    }

    private long times(long value) {
        long high = Math.multiplyHigh(value, factor);
        long low = value * factor;
        return high == low >> 63 ? low : high < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }

    /** Zeros are equal, NaN is greatest. */
    private static long ordered(double value) {
        long bits =
                Double.isNaN(value) ? Double.doubleToRawLongBits(Double.NaN) : Double.doubleToRawLongBits(value + 0.0);
        return bits ^ (bits >> 63 & Long.MAX_VALUE);
    }

    boolean isNull(int first, long row) {
        return RowCodec.isNull(row, column - first);
    }
}
