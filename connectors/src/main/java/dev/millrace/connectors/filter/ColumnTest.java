package dev.millrace.connectors.filter;

import dev.millrace.connector.ColumnPredicate;
import dev.millrace.connector.ColumnPredicate.Comparison;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * A predicate made ready for the layout of its column. Comparing a value with the constant gives a sign, and the predicate
 * accepts some of the three: PostgreSQL's order, in which NaN is above all numbers and equals itself, and text goes by its
 * bytes. Immutable.
 */
public final class ColumnTest {
    private static final int LESS = 1;
    private static final int EQUAL = 2;
    private static final int GREATER = 4;
    private static final int ANY = LESS | EQUAL | GREATER;
    private static final byte[] NO_BYTES = {};

    private final int column;
    private final DataType.Kind kind;
    private final int accepted;

    // The constant, in the one that its kind has.
    private final long value; // integers and times; BOOLEAN as 0 or 1; the lower half of NUMERIC
    private final long high; // the upper half of NUMERIC
    private final double number;
    private final byte[] text;

    private ColumnTest(
            int column, DataType.Kind kind, int accepted, long value, long high, double number, byte[] text) {
        this.column = column;
        this.kind = kind;
        this.accepted = accepted;
        this.value = value;
        this.high = high;
        this.number = number;
        this.text = text;
    }

    /** The test of a predicate, or empty when there is none for its type or constant. */
    static Optional<ColumnTest> of(ColumnPredicate predicate, DataType type) {
        int column = predicate.column();
        DataType.Kind kind = type.kind();
        int accepted = accepted(predicate.comparison());
        if (predicate.value().isEmpty()) {
            return Optional.of(new ColumnTest(column, kind, accepted, 0, 0, 0, NO_BYTES));
        }
        Object constant = predicate.value().get();
        return switch (kind) {
            case BOOLEAN ->
                constant instanceof Boolean bool
                        ? Optional.of(new ColumnTest(column, kind, accepted, bool ? 1 : 0, 0, 0, NO_BYTES))
                        : Optional.empty();
            case SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ ->
                constant instanceof Long whole
                        ? Optional.of(new ColumnTest(column, kind, accepted, whole, 0, 0, NO_BYTES))
                        : Optional.empty();
            case REAL ->
                constant instanceof Double real // a literal of REAL is the nearest float, however many digits it has
                        ? Optional.of(new ColumnTest(column, kind, accepted, 0, 0, real.floatValue(), NO_BYTES))
                        : Optional.empty();
            case DOUBLE ->
                constant instanceof Double real
                        ? Optional.of(new ColumnTest(column, kind, accepted, 0, 0, real, NO_BYTES))
                        : Optional.empty();
            case NUMERIC ->
                constant instanceof BigDecimal decimal && decimal.scale() == type.scale()
                        ? ofUnscaled(column, accepted, decimal.unscaledValue())
                        : Optional.empty();
            case TEXT, VARCHAR ->
                constant instanceof String string
                        ? Optional.of(new ColumnTest(
                                column, kind, accepted, 0, 0, 0, string.getBytes(StandardCharsets.UTF_8)))
                        : Optional.empty();
            // JSONB has its own order, CHAR is padded; the others are rarely compared with constants.
            case BIGNUM, CHAR, JSONB, BYTEA, INTERVAL, UUID, ARRAY, ROW, NULL -> Optional.empty();
        };
    }

    private static Optional<ColumnTest> ofUnscaled(int column, int accepted, BigInteger unscaled) {
        return unscaled.bitLength() > 127
                ? Optional.empty()
                : Optional.of(new ColumnTest(
                        column,
                        DataType.Kind.NUMERIC,
                        accepted,
                        unscaled.longValue(),
                        unscaled.shiftRight(64).longValue(),
                        0,
                        NO_BYTES));
    }

    private static int accepted(Comparison comparison) {
        return switch (comparison) {
            case EQ -> EQUAL;
            case NE -> LESS | GREATER;
            case LT -> LESS;
            case LE -> LESS | EQUAL;
            case GT -> GREATER;
            case GE -> GREATER | EQUAL;
            case IS_NULL -> 0;
            case IS_NOT_NULL -> ANY;
        };
    }

    /** The column of the relation. */
    public int column() {
        return column;
    }

    /** Whether the test compares values; else it only sees whether they are NULL. */
    boolean isOfValues() {
        return accepted != 0 && accepted != ANY;
    }

    /** Whether NULL passes: only the test for it accepts no value. */
    public boolean matchesNull() {
        return accepted == 0;
    }

    /** Whether a value passes that is not NULL, in a column's Arrow buffers; only variable widths have offsets. */
    public boolean matches(long data, long offsets, int row) {
        if (!isOfValues()) {
            return accepted == ANY;
        }
        int sign = sign(data, offsets, row);
        return (accepted & (sign < 0 ? LESS : sign == 0 ? EQUAL : GREATER)) != 0;
    }

    // In parts that are small enough to become part of a loop over rows.

    private int sign(long data, long offsets, int row) {
        return switch (kind) {
            case BOOLEAN, SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ ->
                Long.compare(whole(data, row), value);
            case REAL -> compare(Memory.getFloat(data + 4L * row), number);
            case DOUBLE -> compare(Memory.getDouble(data + 8L * row), number);
            case NUMERIC -> compareNumeric(data + 16L * row);
            case TEXT, VARCHAR -> compareText(data, offsets + 4L * row);
            case BIGNUM, CHAR, JSONB, BYTEA, INTERVAL, UUID, ARRAY, ROW, NULL ->
                throw new IllegalStateException("no constant of " + kind + " is compared");
        };
    }

    private long whole(long data, int row) {
        return switch (kind) {
            case BOOLEAN -> Memory.getBit(data, row) ? 1 : 0;
            case SMALLINT -> Memory.getShort(data + 2L * row);
            case INTEGER, DATE -> Memory.getInt(data + 4L * row);
            default -> Memory.getLong(data + 8L * row);
        };
    }

    /** Not Double.compare, to which zeros of different sign differ. */
    private static int compare(double a, double b) {
        if (a < b) {
            return -1;
        }
        if (a > b) {
            return 1;
        }
        return Boolean.compare(Double.isNaN(a), Double.isNaN(b));
    }

    private int compareNumeric(long address) {
        int upper = Long.compare(Memory.getLong(address + 8), high);
        return upper != 0 ? upper : Long.compareUnsigned(Memory.getLong(address), value);
    }

    private int compareText(long data, long offset) {
        int from = Memory.getInt(offset);
        int length = Memory.getInt(offset + 4) - from;
        int common = Math.min(length, text.length);
        for (int i = 0; i < common; i++) {
            int difference = (Memory.getByte(data + from + i) & 0xff) - (text[i] & 0xff);
            if (difference != 0) {
                return difference;
            }
        }
        return length - text.length;
    }
}
