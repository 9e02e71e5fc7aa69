package dev.millrace.server.pgwire.value;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.ByteReader;
import dev.millrace.text.TimeRange;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;

/**
 * Reads values in the form of PostgreSQL's send functions, for COPY and for bound parameters alike. Each method takes the
 * bytes of its value from the reader; the caller sees to it that none are left.
 *
 * @see dev.millrace.memory.ByteReader.OutOfBytes what all of them throw when there are too few
 */
public final class BinaryForm {
    private static final int DAYS_TO_2000 = 10_957;
    private static final long MICROS_TO_2000 = DAYS_TO_2000 * 86_400_000_000L;
    private static final long NANOS_PER_MICRO = 1000;
    private static final int BASE_DIGITS = 4;
    private static final int MOST_BASE_DIGITS = 3000;
    private static final int MOST_WEIGHT = 64; // far beyond the largest declared type
    private static final int MOST_BASE_DIGITS_OF_ANY = 40_000; // of 131,072 and 16,383 decimal digits
    private static final int MOST_WEIGHT_OF_ANY = 0x7fff;
    private static final int MOST_SCALE = 0x3fff;
    private static final int NEGATIVE = 0x4000;
    private static final int NOT_A_NUMBER = 0xC000;
    private static final int INFINITY = 0xD000;
    private static final int MINUS_INFINITY = 0xF000;
    private static final BigInteger BASE = BigInteger.valueOf(10_000);
    private static final byte JSONB_VERSION = 1;

    private BinaryForm() {}

    /** Bytes that are not of their type; the message names it. */
    public static MillraceException malformed(Object type) {
        return MillraceException.user(
                SqlState.INVALID_BINARY_REPRESENTATION, "incorrect binary data format for type " + type);
    }

    private static MillraceException outOfRange(String type) {
        return MillraceException.user(SqlState.DATETIME_FIELD_OVERFLOW, type + " out of range");
    }

    /** Days since 1970-01-01; the ends of the type are infinite, as in {@link TimeRange}. */
    public static int date(ByteReader in) {
        int since2000 = in.readInt();
        if (!TimeRange.isDay(since2000)) {
            return since2000;
        }
        long days = since2000 + (long) DAYS_TO_2000;
        if (!TimeRange.isDate(days)) {
            throw outOfRange("date");
        }
        return (int) days;
    }

    /** Microseconds since midnight. */
    public static long time(ByteReader in) {
        long micros = in.readLong();
        if (!TimeRange.isTime(micros)) {
            throw outOfRange("time");
        }
        return micros;
    }

    /** Microseconds since 1970-01-01 00:00, of either type of timestamps; infinite ones as {@link #date} has them. */
    public static long timestamp(ByteReader in) {
        long micros = in.readLong();
        if (!TimeRange.isFinite(micros)) {
            return micros;
        }
        if (micros > Long.MAX_VALUE - MICROS_TO_2000 || !TimeRange.isTimestamp(micros + MICROS_TO_2000)) {
            throw outOfRange("timestamp");
        }
        return micros + MICROS_TO_2000;
    }

    /** The microseconds of an interval, before its days and months. */
    public static long intervalMicros(ByteReader in) {
        long micros = in.readLong();
        if (micros > Long.MAX_VALUE / NANOS_PER_MICRO || micros < Long.MIN_VALUE / NANOS_PER_MICRO) {
            throw outOfRange("interval");
        }
        return micros;
    }

    /** Passes over the version in front of a jsonb's text. */
    public static void jsonbVersion(ByteReader in) {
        int version = in.readByte();
        if (version != JSONB_VERSION) {
            throw MillraceException.user(
                    SqlState.INVALID_BINARY_REPRESENTATION, "unsupported jsonb version number " + version);
        }
    }

    /** A number as text: base-10000 digits, the weight of the first of them, a sign, and how many decimals to show. */
    public static String numeric(ByteReader in) {
        return numeric(in, MOST_BASE_DIGITS, MOST_WEIGHT);
    }

    /** The same of a number of any size. */
    public static String bignum(ByteReader in) {
        return numeric(in, MOST_BASE_DIGITS_OF_ANY, MOST_WEIGHT_OF_ANY);
    }

    private static String numeric(ByteReader in, int mostDigits, int mostWeight) {
        int digits = in.readUnsignedShort();
        int weight = in.readShort();
        int sign = in.readUnsignedShort();
        int scale = in.readUnsignedShort();
        if (digits > mostDigits || scale > MOST_SCALE) {
            throw malformed("numeric");
        }
        BigInteger unscaled = BigInteger.ZERO;
        for (int i = 0; i < digits; i++) {
            int digit = in.readUnsignedShort();
            if (digit >= BASE.intValue()) {
                throw malformed("numeric");
            }
            unscaled = unscaled.multiply(BASE).add(BigInteger.valueOf(digit));
        }
        switch (sign) {
            case NOT_A_NUMBER -> {
                return "NaN";
            }
            case INFINITY -> {
                return "Infinity";
            }
            case MINUS_INFINITY -> {
                return "-Infinity";
            }
            case 0 -> {}
            case NEGATIVE -> unscaled = unscaled.negate();
            default -> throw malformed("numeric");
        }
        if (unscaled.signum() == 0) {
            return BigDecimal.valueOf(0, scale).toPlainString();
        }
        if (weight > mostWeight) { // a text of it might be a thousand times as long as these bytes
            throw MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format");
        }
        BigDecimal value = new BigDecimal(unscaled, (digits - 1 - weight) * BASE_DIGITS);
        return value.setScale(scale, RoundingMode.HALF_UP).toPlainString();
    }
}
