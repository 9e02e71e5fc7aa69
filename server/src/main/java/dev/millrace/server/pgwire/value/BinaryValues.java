package dev.millrace.server.pgwire.value;

import dev.millrace.batch.text.VectorText;
import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.number.BignumBytes;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeRange;
import dev.millrace.type.DataType;
import java.math.BigInteger;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/** Appends values in the binary form of PostgreSQL's send functions: big endian, times counted from the year 2000. */
final class BinaryValues {
    static final int DAYS_TO_2000 = 10_957;
    static final long MICROS_TO_2000 = DAYS_TO_2000 * 86_400_000_000L;

    private static final int NUMERIC_BASE = 10_000;
    private static final int NUMERIC_BASE_DIGITS = 4;
    private static final BigInteger BASE = BigInteger.valueOf(NUMERIC_BASE);
    private static final int BITS_OF_DIGIT = 13; // a digit to the base of 10,000 has at least as many
    private static final int NEGATIVE = 0x4000;
    private static final int NOT_A_NUMBER = 0xC000;
    private static final int INFINITY = 0xD000;
    private static final int MINUS_INFINITY = 0xF000;
    private static final long NANOS_PER_MICRO = 1000;
    private static final byte JSONB_VERSION = 1;

    private BinaryValues() {}

    static void putShort(TextBuffer out, int value) {
        Memory.putShort(out.room(2), Short.reverseBytes((short) value));
        out.end(out.room(0) + 2);
    }

    static void putInt(TextBuffer out, int value) {
        Memory.putInt(out.room(4), Integer.reverseBytes(value));
        out.end(out.room(0) + 4);
    }

    static void putLong(TextBuffer out, long value) {
        Memory.putLong(out.room(8), Long.reverseBytes(value));
        out.end(out.room(0) + 8);
    }

    /** Puts how many bytes follow {@code start} into the four bytes there. */
    static void setLength(TextBuffer out, long start) {
        Memory.putInt(out.address() + start, Integer.reverseBytes((int) (out.length() - start - 4)));
    }

    /** The value of a row, which is not NULL, without its length. */
    static void write(TextBuffer out, DataType type, FieldVector vector, int row) {
        switch (type.kind()) {
            case BOOLEAN -> out.append((byte) (Memory.getBit(vector.getDataBufferAddress(), row) ? 1 : 0));
            case SMALLINT -> putShort(out, Memory.getShort(vector.getDataBufferAddress() + 2L * row));
            case INTEGER -> putInt(out, Memory.getInt(vector.getDataBufferAddress() + 4L * row));
            case REAL -> putInt(out, Memory.getInt(vector.getDataBufferAddress() + 4L * row));
            case DATE -> {
                int day = Memory.getInt(vector.getDataBufferAddress() + 4L * row);
                putInt(out, TimeRange.isDay(day) ? day - DAYS_TO_2000 : day);
            }
            case BIGINT, DOUBLE, TIME -> putLong(out, Memory.getLong(vector.getDataBufferAddress() + 8L * row));
            case TIMESTAMP, TIMESTAMPTZ -> {
                long micros = Memory.getLong(vector.getDataBufferAddress() + 8L * row);
                putLong(out, TimeRange.isFinite(micros) ? micros - MICROS_TO_2000 : micros);
            }
            case INTERVAL -> {
                long at = vector.getDataBufferAddress() + 16L * row;
                putLong(out, Memory.getLong(at + 8) / NANOS_PER_MICRO);
                putInt(out, Memory.getInt(at + 4));
                putInt(out, Memory.getInt(at));
            }
            case UUID -> out.append(vector.getDataBufferAddress() + 16L * row, 16);
            case NUMERIC -> {
                long at = vector.getDataBufferAddress() + 16L * row;
                numeric(out, Memory.getLong(at + 8), Memory.getLong(at), type.scale());
            }
            case BIGNUM -> {
                BaseVariableWidthVector numbers = (BaseVariableWidthVector) vector;
                int from = Memory.getInt(numbers.getOffsetBufferAddress() + 4L * row);
                int to = Memory.getInt(numbers.getOffsetBufferAddress() + 4L * row + 4);
                bignum(out, numbers.getDataBufferAddress() + from, to - from);
            }
            case TEXT, VARCHAR, CHAR -> VectorText.value(out, type, vector, row);
            case JSONB -> {
                out.append(JSONB_VERSION);
                VectorText.value(out, type, vector, row);
            }
            case BYTEA -> {
                BaseVariableWidthVector bytes = (BaseVariableWidthVector) vector;
                int from = Memory.getInt(bytes.getOffsetBufferAddress() + 4L * row);
                int to = Memory.getInt(bytes.getOffsetBufferAddress() + 4L * row + 4);
                out.append(bytes.getDataBufferAddress() + from, to - from);
            }
            case ARRAY -> array(out, type.element(), (ListVector) vector, row);
            case ROW -> row(out, type, (StructVector) vector, row);
            case NULL -> throw new IllegalArgumentException("a NULL has no value");
        }
    }

    /** A length and the value, or -1 for NULL. */
    static void writeWithLength(TextBuffer out, DataType type, FieldVector vector, int row) {
        if (vector.isNull(row)) {
            putInt(out, -1);
            return;
        }
        long start = out.length();
        putInt(out, 0);
        write(out, type, vector, row);
        setLength(out, start);
    }

    /** Base-10000 digits, the first with the weight given before them, and how many decimal digits to show. */
    private static void numeric(TextBuffer out, long high, long low, int scale) {
        if (high == low >> 63 && low != Long.MIN_VALUE) {
            smallNumeric(out, low, scale);
            return;
        }
        numeric(out, BigInteger.valueOf(high).shiftLeft(64).or(new BigInteger(Long.toUnsignedString(low))), scale);
    }

    /** A number of any size. */
    private static void bignum(TextBuffer out, long address, int length) {
        long mantissa = BignumBytes.mantissa(address, length);
        if (mantissa != BignumBytes.UNFIT) {
            smallNumeric(out, mantissa, BignumBytes.scale(address, length));
            return;
        }
        Bignum number = Bignum.at(address, length);
        if (number.isFinite()) {
            numeric(out, number.value().unscaledValue(), number.scale());
            return;
        }
        putShort(out, 0);
        putShort(out, 0);
        putShort(out, number.isNan() ? NOT_A_NUMBER : number.signum() > 0 ? INFINITY : MINUS_INFINITY);
        putShort(out, 0);
    }

    private static void numeric(TextBuffer out, BigInteger unscaled, int scale) {
        BigInteger rest = unscaled.abs().multiply(BigInteger.TEN.pow(padding(scale)));
        short[] digits = new short[rest.bitLength() / BITS_OF_DIGIT + 1];
        int count = 0;
        while (rest.signum() > 0) {
            BigInteger[] divided = rest.divideAndRemainder(BASE);
            digits[count++] = divided[1].shortValue();
            rest = divided[0];
        }
        digits(out, digits, count, unscaled.signum() < 0, scale);
    }

    private static void smallNumeric(TextBuffer out, long unscaled, int scale) {
        long rest = Math.abs(unscaled);
        short[] digits = new short[8];
        int count = 0;
        int padding = padding(scale);
        if (padding > 0) { // the lowest digit holds fewer decimals than four
            int kept = (int) Math.pow(10, NUMERIC_BASE_DIGITS - padding);
            digits[count++] = (short) (rest % kept * (NUMERIC_BASE / kept));
            rest /= kept;
        }
        while (rest > 0) {
            digits[count++] = (short) (rest % NUMERIC_BASE);
            rest /= NUMERIC_BASE;
        }
        digits(out, digits, count, unscaled < 0, scale);
    }

    /** Decimal digits that fill up the last base-10000 digit. */
    private static int padding(int scale) {
        return (NUMERIC_BASE_DIGITS - scale % NUMERIC_BASE_DIGITS) % NUMERIC_BASE_DIGITS;
    }

    /** @param digits the lowest first */
    private static void digits(TextBuffer out, short[] digits, int count, boolean negative, int scale) {
        int fraction = (scale + NUMERIC_BASE_DIGITS - 1) / NUMERIC_BASE_DIGITS;
        int top = count;
        while (top > 0 && digits[top - 1] == 0) {
            top--;
        }
        int bottom = 0;
        while (bottom < top && digits[bottom] == 0) {
            bottom++;
        }
        putShort(out, top - bottom);
        putShort(out, top == bottom ? 0 : top - 1 - fraction);
        putShort(out, negative && top > bottom ? NEGATIVE : 0);
        putShort(out, scale);
        for (int i = top - 1; i >= bottom; i--) {
            putShort(out, digits[i]);
        }
    }

    private static void array(TextBuffer out, DataType element, ListVector vector, int row) {
        FieldVector values = vector.getDataVector();
        int from = vector.getElementStartIndex(row);
        int to = vector.getElementEndIndex(row);
        boolean nulls = false;
        for (int i = from; i < to; i++) {
            nulls |= values.isNull(i);
        }
        putInt(out, to > from ? 1 : 0); // dimensions
        putInt(out, nulls ? 1 : 0);
        putInt(out, PgType.oidOf(element));
        if (to > from) {
            putInt(out, to - from);
            putInt(out, 1); // the first subscript
        }
        for (int i = from; i < to; i++) {
            writeWithLength(out, element, values, i);
        }
    }

    private static void row(TextBuffer out, DataType type, StructVector vector, int row) {
        putInt(out, type.fields().size());
        for (int i = 0; i < type.fields().size(); i++) {
            DataType field = type.fields().get(i).type();
            putInt(out, PgType.oidOf(field));
            writeWithLength(out, field, (FieldVector) vector.getChildByOrdinal(i), row);
        }
    }
}
