package dev.millrace.text;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.number.BignumBytes;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Reads values from their text form, as PostgreSQL's input functions do: blanks around a value do not count, except in
 * text. Each type has two methods, over {@code length} bytes at {@code address}:
 *
 * <pre>
 *   if (parser.tryBigint(address, length)) use(parser.value()); else report(parser.failure(type, address, length));
 *   long value = parser.bigint(address, length);          // throws the failure
 * </pre>
 *
 * <p>A parser holds the last result, so it belongs to one thread. It allocates nothing but for failures and for the rare
 * floating-point number (one in some 10^18, more than 18 digits, or subnormal) that is left to the JDK.
 */
public final class ValueParser {
    static final int OK = 0;
    static final int SYNTAX = 1;
    static final int RANGE = 2;
    static final int FIELD = 3;
    static final int TOO_LONG = 4;
    static final int ODD_HEX = 5;
    static final int NUL_BYTE = 6;
    static final int NOT_UTF8 = 7;

    private static final int SHOWN_BYTES = 200;

    // What the last successful parse found; written by the readers of this package.
    long low;
    long high;
    Optional<Bignum> bignum = Optional.empty(); // of a BIGNUM that does not fit the two

    private final boolean readableBehind;
    private int outcome;
    private final DateTimeText dateTime = new DateTimeText();
    private final IntervalText interval = new IntervalText();
    private final DateTimeFields fields = new DateTimeFields();

    /** A parser of values that may lie at the very end of readable memory. */
    public ValueParser() {
        this(false);
    }

    private ValueParser(boolean readableBehind) {
        this.readableBehind = readableBehind;
    }

    /** A faster parser, for values behind each of which at least eight more bytes can be read, whatever they are. */
    public static ValueParser ofReadableBehind() {
        return new ValueParser(true);
    }

    /** Takes texts of TIMESTAMPTZ that name no zone as what clocks of the style's show, and numbers of dates in its order, from now on. */
    public void inStyle(TimeStyle style) {
        dateTime.inStyle(style);
    }

    /**
     * Reads a value of any fixed-width type; the result is in {@link #value()} or goes to a vector by {@link #store}.
     * For text types only checks that it fits: no NUL byte, valid UTF-8, the declared length. A BIGNUM is stored by
     * {@link #storeBignum}.
     *
     * @return false when the text is no such value; {@link #failure} then says why
     */
    public boolean tryParse(DataType type, long address, int length) {
        return switch (type.kind()) {
            case BOOLEAN -> tryBool(address, length);
            case SMALLINT -> trySmallint(address, length);
            case INTEGER -> tryInteger(address, length);
            case BIGINT -> tryBigint(address, length);
            case REAL -> tryReal(address, length);
            case DOUBLE -> tryFloat8(address, length);
            case NUMERIC -> tryNumeric(address, length, type.precision(), type.scale());
            case BIGNUM -> tryBignum(type, address, length);
            case DATE -> tryDate(address, length);
            case TIME -> tryTime(address, length);
            case TIMESTAMP -> tryTimestamp(address, length);
            case TIMESTAMPTZ -> tryTimestamptz(address, length);
            case INTERVAL -> tryInterval(address, length);
            case UUID -> tryUuid(address, length);
            case TEXT, JSONB, VARCHAR, CHAR -> tryText(type, address, length);
            case BYTEA, ARRAY, ROW, NULL -> throw new IllegalArgumentException("no fixed-width value: " + type);
        };
    }

    /** The last result: an integer, days, microseconds, 0 or 1, or the raw bits of a double or float. */
    public long value() {
        return low;
    }

    /** The last result of a floating-point type. */
    public double doubleValue() {
        return Double.longBitsToDouble(low);
    }

    /** The upper 64 bits of a NUMERIC, the lower being {@link #value()}; or an INTERVAL's months and, above, days. */
    public long high() {
        return high;
    }

    /** Writes the last result as a vector of the type holds it; not for BOOLEAN, whose values are bits. */
    public void store(DataType type, long target) {
        switch (type.kind()) {
            case SMALLINT -> Memory.putShort(target, (short) low);
            case INTEGER, DATE -> Memory.putInt(target, (int) low);
            case REAL -> Memory.putFloat(target, (float) doubleValue());
            case BIGINT, DOUBLE, TIME, TIMESTAMP, TIMESTAMPTZ -> Memory.putLong(target, low);
            case NUMERIC -> {
                Memory.putLong(target, low);
                Memory.putLong(target + 8, high);
            }
            case INTERVAL -> {
                Memory.putLong(target, high);
                Memory.putLong(target + 8, low * 1000);
            }
            case UUID -> {
                Memory.putLong(target, Long.reverseBytes(high));
                Memory.putLong(target + 8, Long.reverseBytes(low));
            }
            default -> throw new IllegalArgumentException("no fixed-width value: " + type);
        }
    }

    public boolean tryBool(long address, int length) {
        return done(BooleanText.parse(address, address + length, this));
    }

    public boolean trySmallint(long address, int length) {
        return done(IntegerText.parse(address, address + length, Short.MIN_VALUE, Short.MAX_VALUE, this));
    }

    public boolean tryInteger(long address, int length) {
        return done(IntegerText.parse(address, address + length, Integer.MIN_VALUE, Integer.MAX_VALUE, this));
    }

    public boolean tryBigint(long address, int length) {
        return done(IntegerText.parse(address, address + length, Long.MIN_VALUE, Long.MAX_VALUE, this));
    }

    /** The result is the double of the same value as the nearest float. */
    public boolean tryReal(long address, int length) {
        return done(DoubleText.parseReal(address, address + length, this));
    }

    public boolean tryFloat8(long address, int length) {
        if (readableBehind && DoubleText.parsePlain(address, address + length, this)) {
            return true;
        }
        return done(DoubleText.parse(address, address + length, this));
    }

    /** The unscaled value as 128 bits in {@link #high()} and {@link #value()}; a half is rounded away from zero. */
    public boolean tryNumeric(long address, int length, int precision, int scale) {
        return done(NumericText.parse(address, address + length, precision, scale, this));
    }

    /** A number of any size, or of the digits that the type has, for {@link #storeBignum}. */
    public boolean tryBignum(DataType type, long address, int length) {
        int read = BignumText.parse(address, address + length, this);
        if (read == OK && type.precision() > 0) {
            bignum = bignum().limited(type.precision(), type.scale());
            read = bignum.isPresent() ? OK : RANGE;
        }
        return done(read);
    }

    /** The last BIGNUM. */
    public Bignum bignum() {
        return bignum.orElseGet(() -> Bignum.of(BigDecimal.valueOf(low, (int) high)));
    }

    /** The most bytes of the last BIGNUM. */
    public int bignumBytes() {
        return bignum.isPresent() ? bignum.get().mostBytes() : BignumBytes.MOST_FIXED_BYTES;
    }

    /** Writes the last BIGNUM as {@link BignumBytes}, and returns how many bytes it takes. */
    public int storeBignum(long target) {
        return bignum.isPresent() ? bignum.get().write(target) : BignumBytes.write(target, low, (int) high);
    }

    public boolean tryDate(long address, int length) {
        return done(dateTime.parseDate(address, address + length, this));
    }

    public boolean tryTime(long address, int length) {
        return done(dateTime.parseTime(address, address + length, this));
    }

    /** A zone in the text is read and ignored, as PostgreSQL does. */
    public boolean tryTimestamp(long address, int length) {
        return done(dateTime.parseTimestamp(address, address + length, false, this));
    }

    /** Without a zone in the text it is UTC, or see {@link #inZone}. */
    public boolean tryTimestamptz(long address, int length) {
        return done(dateTime.parseTimestamp(address, address + length, true, this));
    }

    /** Microseconds in {@link #value()}, months and days in {@link #months()} and {@link #days()}. */
    public boolean tryInterval(long address, int length) {
        return done(interval.parse(address, address + length, this));
    }

    /** The months of the last INTERVAL. */
    public int months() {
        return (int) high;
    }

    /** The days of the last INTERVAL. */
    public int days() {
        return (int) (high >> 32);
    }

    /** Big-endian halves in {@link #high()} and {@link #value()}. */
    public boolean tryUuid(long address, int length) {
        return done(BinaryText.parseUuid(address, address + length, this));
    }

    /**
     * Bytes from {@code \x} and hexadecimal digits, or from PostgreSQL's escape form, written at {@code target}, which
     * has room for {@code length} bytes; their number is in {@link #value()}.
     */
    public boolean tryBytea(long address, int length, long target) {
        return done(BinaryText.parseBytea(address, address + length, target, this));
    }

    /** Whether the bytes are text that fits the type: UTF-8 without NUL bytes, at most VARCHAR's or CHAR's characters. */
    public boolean tryText(DataType type, long address, int length) {
        if (!Utf8.isPlain(address, length)) {
            if (!Utf8.isValid(address, length)) {
                return done(NOT_UTF8);
            }
            if (Utf8.hasNul(address, length)) {
                return done(NUL_BYTE);
            }
        }
        int limit = type.precision();
        boolean bounded = type.kind() == DataType.Kind.VARCHAR || type.kind() == DataType.Kind.CHAR;
        boolean tooLong = bounded && limit > 0 && length > limit && Utf8.characters(address, length) > limit;
        return done(tooLong && !Utf8.onlyBlanksAfter(address, length, limit) ? TOO_LONG : OK);
    }

    /** The bytes that a text which fits its type keeps: blanks past VARCHAR's length are cut, CHAR loses all at its end. */
    public static int keptLength(DataType type, long address, int length) {
        int kept = length;
        if (type.kind() == DataType.Kind.CHAR) {
            while (kept > 0 && Memory.getByte(address + kept - 1) == ' ') {
                kept--;
            }
        } else if (type.kind() == DataType.Kind.VARCHAR && type.precision() > 0) {
            while (kept > type.precision() && Utf8.characters(address, kept) > type.precision()) {
                kept--;
            }
        }
        return kept;
    }

    /** As {@link TimestampFormat} reads it: microseconds since 1970-01-01 00:00 in {@link #value()}. */
    public boolean tryTimestamp(TimestampFormat format, long address, int length) {
        return done(format.parse(address, address + length, fields, this));
    }

    public boolean bool(long address, int length) {
        check(tryBool(address, length), DataType.BOOLEAN, address, length);
        return low != 0;
    }

    public short smallint(long address, int length) {
        check(trySmallint(address, length), DataType.SMALLINT, address, length);
        return (short) low;
    }

    public int integer(long address, int length) {
        check(tryInteger(address, length), DataType.INTEGER, address, length);
        return (int) low;
    }

    public long bigint(long address, int length) {
        check(tryBigint(address, length), DataType.BIGINT, address, length);
        return low;
    }

    public float real(long address, int length) {
        check(tryReal(address, length), DataType.REAL, address, length);
        return (float) doubleValue();
    }

    public double float8(long address, int length) {
        check(tryFloat8(address, length), DataType.DOUBLE, address, length);
        return doubleValue();
    }

    /** Writes the 16 bytes of a NUMERIC of the type at {@code target}. */
    public void numeric(DataType type, long address, int length, long target) {
        check(tryNumeric(address, length, type.precision(), type.scale()), type, address, length);
        store(type, target);
    }

    /** Reads a number of any size, or of the digits that the type has, for {@link #storeBignum}. */
    public void bignum(DataType type, long address, int length) {
        check(tryBignum(type, address, length), type, address, length);
    }

    /** Days since 1970-01-01. */
    public int date(long address, int length) {
        check(tryDate(address, length), DataType.DATE, address, length);
        return (int) low;
    }

    /** Microseconds since midnight. */
    public long time(long address, int length) {
        check(tryTime(address, length), DataType.TIME, address, length);
        return low;
    }

    /** Microseconds since 1970-01-01 00:00. */
    public long timestamp(long address, int length) {
        check(tryTimestamp(address, length), DataType.TIMESTAMP, address, length);
        return low;
    }

    /** Microseconds since 1970-01-01 00:00 UTC. */
    public long timestamptz(long address, int length) {
        check(tryTimestamptz(address, length), DataType.TIMESTAMPTZ, address, length);
        return low;
    }

    /** Writes the 16 bytes of an INTERVAL at {@code target}. */
    public void interval(long address, int length, long target) {
        check(tryInterval(address, length), DataType.INTERVAL, address, length);
        store(DataType.INTERVAL, target);
    }

    /** Writes the 16 bytes of a UUID at {@code target}. */
    public void uuid(long address, int length, long target) {
        check(tryUuid(address, length), DataType.UUID, address, length);
        store(DataType.UUID, target);
    }

    /** Writes the bytes at {@code target}, which has room for {@code length} of them, and returns how many they are. */
    public int bytea(long address, int length, long target) {
        check(tryBytea(address, length, target), DataType.BYTEA, address, length);
        return (int) low;
    }

    /** The error of the last parse, in PostgreSQL's words; to be asked for right after it returned false. */
    public MillraceException failure(DataType type, long address, int length) {
        return failure(outcome, type, shown(address, length));
    }

    private static MillraceException failure(int outcome, DataType type, String text) {
        String quoted = "\"" + text + "\"";
        return switch (outcome) {
            case SYNTAX ->
                MillraceException.user(
                        isDateOrTime(type) ? SqlState.INVALID_DATETIME_FORMAT : SqlState.INVALID_TEXT_REPRESENTATION,
                        "invalid input syntax for type " + nameInErrors(type) + ": " + quoted);
            case RANGE -> outOfRange(type, quoted);
            case FIELD ->
                MillraceException.user(
                        SqlState.DATETIME_FIELD_OVERFLOW,
                        (type.kind() == DataType.Kind.INTERVAL ? "interval" : "date/time")
                                + " field value out of range: " + quoted);
            case TOO_LONG ->
                MillraceException.user(SqlState.STRING_DATA_RIGHT_TRUNCATION, "value too long for type " + type);
            case ODD_HEX ->
                MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE, "invalid hexadecimal data: odd number of digits");
            case NUL_BYTE ->
                MillraceException.user(
                        SqlState.CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\": 0x00");
            case NOT_UTF8 ->
                MillraceException.user(
                        SqlState.CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\": " + quoted);
            default -> MillraceException.internal("no failure to report for " + quoted);
        };
    }

    private static MillraceException outOfRange(DataType type, String quoted) {
        return switch (type.kind()) {
            case NUMERIC ->
                MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow")
                        .withHint(quoted + " does not fit " + type);
            case BIGNUM ->
                MillraceException.user(
                        SqlState.NUMERIC_VALUE_OUT_OF_RANGE,
                        type.precision() == 0 ? "value overflows numeric format" : "numeric field overflow");
            case REAL, DOUBLE ->
                MillraceException.user(
                        SqlState.NUMERIC_VALUE_OUT_OF_RANGE, quoted + " is out of range for type " + type);
            case DATE, TIME, TIMESTAMP, TIMESTAMPTZ ->
                MillraceException.user(
                        SqlState.DATETIME_FIELD_OVERFLOW, nameInErrors(type) + " out of range: " + quoted);
            default ->
                MillraceException.user(
                        SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "value " + quoted + " is out of range for type " + type);
        };
    }

    private static boolean isDateOrTime(DataType type) {
        return switch (type.kind()) {
            case DATE, TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL -> true;
            default -> false;
        };
    }

    /** PostgreSQL's messages leave out the parameters of a type, and "without time zone". */
    private static String nameInErrors(DataType type) {
        return switch (type.kind()) {
            case TIME -> "time";
            case TIMESTAMP -> "timestamp";
            case NUMERIC, BIGNUM -> "numeric";
            default -> type.toString();
        };
    }

    private static String shown(long address, int length) {
        byte[] bytes = new byte[Math.min(length, SHOWN_BYTES)];
        Memory.copyOut(address, bytes, 0, bytes.length);
        String text = new String(bytes, StandardCharsets.UTF_8).replaceAll("\\p{Cntrl}", "\ufffd");
        return length > SHOWN_BYTES ? text + "..." : text;
    }

    private boolean done(int newOutcome) {
        outcome = newOutcome;
        return newOutcome == OK;
    }

    private void check(boolean parsed, DataType type, long address, int length) {
        if (!parsed) {
            throw failure(type, address, length);
        }
    }
}
