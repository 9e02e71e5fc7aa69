package dev.millrace.connectors.column;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.json.JsonNormalizer;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeRange;
import dev.millrace.text.TimestampFormat;
import dev.millrace.text.ValueParser;
import dev.millrace.text.ValueWriter;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Where a value goes, which is put by what the format says that it is. It becomes one of the target's type as an assignment in SQL would
 * make it one; what cannot is refused by a {@link MillraceException}, and {@link #failed} says so from then on. Texts become a value of any
 * type by its text form, values of any type texts. Of several values that are put one after the other the last counts. Not thread-safe.
 */
public abstract class ValueTarget implements AutoCloseable {
    private static final long MICROS_PER_DAY = 86_400_000_000L;
    private static final long LAST_TIMESTAMP_DAY = Long.MAX_VALUE / MICROS_PER_DAY;
    private static final int SLACK_BYTES = 8; // behind every text that is put
    private static final int SHORT_COPY = 64;
    private static final int MOST_DIGITS = 400;

    private final DataType type;
    private final DataType.Kind kind;
    private final Optional<TimestampFormat> format;
    private final ValueParser parser = ValueParser.ofReadableBehind();
    private final JsonNormalizer normalizer = new JsonNormalizer();
    private final TextBuffer scratch;
    private boolean failed;

    /** @param format of dates and times that come as texts or numbers, where it is not PostgreSQL's own */
    ValueTarget(DataType type, Optional<TimestampFormat> format, BufferAllocator allocator) {
        this.type = type;
        this.kind = type.kind();
        this.format = format;
        this.scratch = new TextBuffer(allocator, 64);
    }

    // ---- where values are
    // --------------------------------------------------------------------------------------------

    /** 16 bytes for a value of fixed width; it counts when {@link #placed} was called. */
    abstract long place();

    abstract void placed();

    abstract void placeBoolean(boolean value);

    /** Where the bytes of a value of variable width are appended; they count when {@link #written} was called. */
    abstract TextBuffer writing();

    abstract void written();

    /** The value is NULL. */
    public abstract void putNull();

    /** For values of an array or row type. */
    public abstract NestedTarget nested();

    public final DataType type() {
        return type;
    }

    /** Whether a value was refused since {@link #forgetFailure}. */
    boolean failed() {
        return failed;
    }

    void forgetFailure() {
        failed = false;
    }

    // ---- values ----------------------------------------------------------------------------------------------------

    public final void putBoolean(boolean value) {
        if (kind == DataType.Kind.BOOLEAN) {
            placeBoolean(value);
        } else if (isText()) {
            scratch.clear();
            ValueWriter.bool(scratch, value);
            putScratch();
        } else {
            throw mismatch("a boolean");
        }
    }

    public final void putInteger(long value) {
        switch (kind) {
            case BIGINT -> {
                Memory.putLong(place(), value);
                placed();
            }
            case INTEGER -> {
                if (value != (int) value) {
                    throw outOfRange(value);
                }
                Memory.putInt(place(), (int) value);
                placed();
            }
            case SMALLINT -> {
                if (value != (short) value) {
                    throw outOfRange(value);
                }
                Memory.putShort(place(), (short) value);
                placed();
            }
            case DOUBLE -> {
                Memory.putDouble(place(), value);
                placed();
            }
            case REAL -> {
                Memory.putFloat(place(), value);
                placed();
            }
            default -> {
                if (isText() || type.isExact() || format.isPresent()) {
                    scratch.clear();
                    ValueWriter.integer(scratch, value);
                    putScratch();
                } else {
                    throw mismatch("an integer");
                }
            }
        }
    }

    public final void putDouble(double value) {
        switch (kind) {
            case DOUBLE -> {
                Memory.putDouble(place(), value);
                placed();
            }
            case REAL -> {
                float single = (float) value;
                if (Float.isInfinite(single) && !Double.isInfinite(value)) {
                    throw outOfRange(value);
                }
                Memory.putFloat(place(), single);
                placed();
            }
            case SMALLINT, INTEGER, BIGINT -> {
                double whole = Math.rint(value);
                if (!(whole >= -0x1p63 && whole < 0x1p63)) { // not a number, too
                    throw outOfRange(value);
                }
                putInteger((long) whole);
            }
            default -> {
                if (isText() || type.isExact() || format.isPresent()) {
                    scratch.clear();
                    ValueWriter.float8(scratch, value);
                    putScratch();
                } else {
                    throw mismatch("a floating-point number");
                }
            }
        }
    }

    public final void putFloat(float value) {
        if (kind == DataType.Kind.REAL) {
            Memory.putFloat(place(), value);
            placed();
        } else if (isText() || type.isExact()) {
            scratch.clear();
            ValueWriter.real(scratch, value);
            putScratch();
        } else {
            putDouble(value);
        }
    }

    /** An unscaled value, big endian in two's complement, of {@code scale} digits behind the point. */
    public final void putDecimal(byte[] unscaled, int scale) {
        if (unscaled.length == 0 || unscaled.length > MOST_DIGITS / 3 || Math.abs(scale) > MOST_DIGITS) {
            throw refused(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "a decimal of " + unscaled.length + " bytes");
        }
        putDecimal(new BigDecimal(new BigInteger(unscaled), scale));
    }

    /** A number with digits behind the point, some hundred digits at most. */
    public final void putDecimal(BigDecimal value) {
        switch (kind) {
            case DOUBLE -> putDouble(value.doubleValue());
            case REAL -> putFloat(value.floatValue());
            case SMALLINT, INTEGER, BIGINT -> {
                BigInteger whole = value.setScale(0, RoundingMode.HALF_UP).unscaledValue();
                if (whole.bitLength() > 63) {
                    throw refused(
                            SqlState.NUMERIC_VALUE_OUT_OF_RANGE,
                            "value \"" + value + "\" is out of range for type " + type);
                }
                putInteger(whole.longValue());
            }
            default -> {
                if (!isText() && !type.isExact()) {
                    throw mismatch("a decimal");
                }
                scratch.clear();
                scratch.appendAscii(value.toPlainString());
                putScratch();
            }
        }
    }

    /** UTF-8, which is checked; eight bytes behind it can be read. Becomes a value of any type by its text form. */
    public final void putText(long address, int length) {
        switch (kind) {
            case TEXT, VARCHAR, CHAR -> {
                if (!parser.tryText(type, address, length)) {
                    throw unreadable(address, length);
                }
                TextBuffer out = writing();
                append(out, address, ValueParser.keptLength(type, address, length));
                written();
            }
            case JSONB -> putJson(address, length);
            case BYTEA -> {
                TextBuffer out = writing();
                long target = out.room(Math.max(1, length));
                if (!parser.tryBytea(address, length, target)) {
                    throw unreadable(address, length);
                }
                out.end(target + parser.value());
                written();
            }
            case BIGNUM -> {
                if (!parser.tryBignum(type, address, length)) {
                    throw unreadable(address, length);
                }
                TextBuffer out = writing();
                long target = out.room(parser.bignumBytes());
                out.end(target + parser.storeBignum(target));
                written();
            }
            case ARRAY, ROW, NULL -> throw mismatch("a text");
            default -> {
                boolean parsed = format.isPresent()
                        ? parser.tryTimestamp(format.get(), address, length)
                        : parser.tryParse(type, address, length);
                if (!parsed) {
                    throw unreadable(address, length);
                }
                if (format.isPresent()) {
                    putTimestamp(parser.value());
                } else if (kind == DataType.Kind.BOOLEAN) {
                    placeBoolean(parser.value() != 0);
                } else {
                    parser.store(type, place());
                    placed();
                }
            }
        }
    }

    public final void putText(String text) {
        scratch.clear();
        scratch.append(text.getBytes(StandardCharsets.UTF_8));
        putScratch();
    }

    private void putScratch() {
        scratch.room(SLACK_BYTES);
        putText(scratch.address(), (int) scratch.length());
    }

    /** Short texts by words: a call to copy memory costs more. */
    private static void append(TextBuffer out, long address, int length) {
        if (length > SHORT_COPY) {
            out.append(address, length);
            return;
        }
        long at = out.room(length + SLACK_BYTES);
        for (int i = 0; i < length; i += 8) {
            Memory.putLong(at + i, Memory.getLong(address + i));
        }
        out.end(at + length);
    }

    /** Bytes that are no text of themselves; eight behind them can be read. Texts must be UTF-8. */
    public final void putBytes(long address, int length) {
        if (kind == DataType.Kind.BYTEA) {
            TextBuffer out = writing();
            append(out, address, length);
            written();
        } else if (kind == DataType.Kind.UUID && length == 16) {
            long at = place();
            Memory.putLong(at, Memory.getLong(address));
            Memory.putLong(at + 8, Memory.getLong(address + 8));
            placed();
        } else if (isText() || kind == DataType.Kind.JSONB) {
            putText(address, length);
        } else {
            throw mismatch("a value of bytes");
        }
    }

    /** JSON in any form; for JSONB and for texts. */
    public final void putJson(long address, int length) {
        if (kind != DataType.Kind.JSONB) {
            putText(address, length);
            return;
        }
        TextBuffer out = writing();
        try {
            normalizer.normalize(out, address, length);
        } catch (MillraceException e) {
            failed = true;
            throw e;
        }
        written();
    }

    /** Days since 1970-01-01. */
    public final void putDate(long days) {
        if (!TimeRange.isDate(days)) {
            throw refused(SqlState.DATETIME_FIELD_OVERFLOW, "date out of range: " + days + " days since 1970");
        }
        if (kind == DataType.Kind.DATE) {
            Memory.putInt(place(), (int) days);
            placed();
        } else if (isText()) {
            scratch.clear();
            ValueWriter.date(scratch, (int) days);
            putScratch();
        } else {
            if (days > LAST_TIMESTAMP_DAY && TimeRange.isDay(days)) {
                throw refused(SqlState.DATETIME_FIELD_OVERFLOW, "date out of range for timestamp: " + days + " days");
            }
            boolean isDay = TimeRange.isDay(days);
            putMicros(isDay ? days * MICROS_PER_DAY : days > 0 ? Long.MAX_VALUE : Long.MIN_VALUE, "a date");
        }
    }

    /** Microseconds since midnight. */
    public final void putTime(long micros) {
        if (!TimeRange.isTime(micros)) {
            throw refused(SqlState.DATETIME_FIELD_OVERFLOW, "time out of range: " + micros + " us since midnight");
        }
        if (kind == DataType.Kind.TIME) {
            Memory.putLong(place(), micros);
            placed();
        } else if (isText()) {
            scratch.clear();
            ValueWriter.time(scratch, micros);
            putScratch();
        } else {
            throw mismatch("a time of day");
        }
    }

    /** Microseconds since 1970-01-01 00:00, of UTC where that matters. */
    public final void putTimestamp(long micros) {
        switch (kind) {
            case DATE ->
                putDate(TimeRange.isFinite(micros) ? Math.floorDiv(micros, MICROS_PER_DAY) : TimeRange.dayOf(micros));
            case TIME -> putTime(Math.floorMod(micros, MICROS_PER_DAY));
            default -> putMicros(micros, "a timestamp");
        }
    }

    private void putMicros(long micros, String what) {
        if (!TimeRange.isTimestamp(micros)) {
            throw refused(SqlState.DATETIME_FIELD_OVERFLOW, "timestamp out of range: " + micros + " us since 1970");
        }
        if (type.isTimestamp()) {
            Memory.putLong(place(), micros);
            placed();
        } else if (isText()) {
            scratch.clear();
            ValueWriter.timestamp(scratch, micros);
            putScratch();
        } else {
            throw mismatch(what);
        }
    }

    public final void putInterval(int months, int days, long micros) {
        if (kind == DataType.Kind.INTERVAL) {
            if (micros > Long.MAX_VALUE / 1000 || micros < Long.MIN_VALUE / 1000) {
                throw refused(SqlState.DATETIME_FIELD_OVERFLOW, "interval field value out of range: " + micros + " us");
            }
            long at = place();
            Memory.putInt(at, months);
            Memory.putInt(at + 4, days);
            Memory.putLong(at + 8, micros * 1000);
            placed();
        } else if (isText()) {
            scratch.clear();
            ValueWriter.interval(scratch, months, days, micros);
            putScratch();
        } else {
            throw mismatch("an interval");
        }
    }

    private boolean isText() {
        return kind == DataType.Kind.TEXT || kind == DataType.Kind.VARCHAR || kind == DataType.Kind.CHAR;
    }

    // ---- refusals --------------------------------------------------------------------------------------------------

    /** The error for a value that cannot be one of the type at all. */
    public final MillraceException mismatch(String what) {
        return refused(SqlState.DATATYPE_MISMATCH, what + " of the record is no " + type);
    }

    private MillraceException outOfRange(Object value) {
        return refused(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "value \"" + value + "\" is out of range for type " + type);
    }

    private MillraceException unreadable(long address, int length) {
        failed = true;
        return parser.failure(type, address, length);
    }

    /** The error for a value that is refused. */
    final MillraceException refused(SqlState state, String reason) {
        failed = true;
        return MillraceException.user(state, reason);
    }

    @Override
    public void close() {
        scratch.close();
    }
}
