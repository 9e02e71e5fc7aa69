package dev.millrace.connectors.arrow;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.number.BignumBytes;
import dev.millrace.text.TimeRange;
import dev.millrace.text.ValueParser;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.math.BigInteger;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/**
 * Holds the values of a column that is taken as it is to what the engine relies on: texts are UTF-8 without NUL, dates, times
 * and numbers are in their ranges. For columns whose bounds {@link ArrowContents} has held.
 */
public final class ArrowValues {
    private static final int LONG_DIGITS = 18;

    private final ValueParser parser = new ValueParser();
    private final Field field;

    private ArrowValues(Field field) {
        this.field = field;
    }

    /**
     * Checks the first {@code rows} values of a vector of the Arrow type that {@link DataType} tabulates for the field's.
     *
     * @throws MillraceException naming the row, from 1, and the column
     */
    public static void check(Field field, FieldVector vector, int rows) {
        if (rows > 0) {
            new ArrowValues(field).check(field.type(), vector, rows);
        }
    }

    private void check(DataType type, FieldVector vector, int rows) {
        switch (type.kind()) {
            case TEXT, VARCHAR, CHAR, JSONB -> texts(type, (BaseVariableWidthVector) vector, rows);
            case DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> times(type, vector, rows);
            case NUMERIC -> numbers(type, vector, rows);
            case BIGNUM -> bignums(type, (BaseVariableWidthVector) vector, rows);
            case ARRAY -> {
                ListVector list = (ListVector) vector;
                int elements = Memory.getInt(list.getOffsetBuffer().memoryAddress() + 4L * rows);
                if (elements > 0) {
                    check(type.element(), list.getDataVector(), elements);
                }
            }
            case ROW -> {
                for (int i = 0; i < type.fields().size(); i++) {
                    check(
                            type.fields().get(i).type(),
                            (FieldVector) ((StructVector) vector).getChildByOrdinal(i),
                            rows);
                }
            }
            case BOOLEAN,
                    SMALLINT,
                    INTEGER,
                    BIGINT,
                    REAL,
                    DOUBLE,
                    BYTEA,
                    INTERVAL,
                    UUID,
                    NULL -> {} // all bits are values
        }
    }

    private void texts(DataType type, BaseVariableWidthVector vector, int rows) {
        long offsets = vector.getOffsetBufferAddress();
        long data = vector.getDataBufferAddress();
        for (int row = 0; row < rows; row++) {
            int start = Memory.getInt(offsets + 4L * row);
            int length = Memory.getInt(offsets + 4L * row + 4) - start;
            if (!parser.tryText(type, data + start, length)) {
                throw at(row, parser.failure(type, data + start, length));
            }
        }
    }

    private void times(DataType type, FieldVector vector, int rows) {
        long data = vector.getDataBufferAddress();
        for (int row = 0; row < rows; row++) {
            boolean held = switch (type.kind()) {
                case DATE -> TimeRange.isDate(Memory.getInt(data + 4L * row));
                case TIME -> TimeRange.isTime(Memory.getLong(data + 8L * row));
                default -> TimeRange.isTimestamp(Memory.getLong(data + 8L * row));
            };
            if (!held && !vector.isNull(row)) {
                throw at(row, MillraceException.user(SqlState.DATETIME_FIELD_OVERFLOW, type + " out of range"));
            }
        }
    }

    private void numbers(DataType type, FieldVector vector, int rows) {
        long data = vector.getDataBufferAddress();
        boolean isSmall = type.precision() <= LONG_DIGITS;
        BigInteger end = BigInteger.TEN.pow(type.precision());
        long smallEnd = isSmall ? end.longValueExact() : 0;
        for (int row = 0; row < rows; row++) {
            long low = Memory.getLong(data + 16L * row);
            long high = Memory.getLong(data + 16L * row + 8);
            boolean oneWord = high == low >> 63;
            boolean held = oneWord && (!isSmall || low > -smallEnd && low < smallEnd);
            if (!held && !isSmall) {
                BigInteger value =
                        BigInteger.valueOf(high).shiftLeft(64).or(new BigInteger(Long.toUnsignedString(low)));
                held = value.abs().compareTo(end) < 0;
            }
            if (!held && !vector.isNull(row)) {
                throw at(row, MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow"));
            }
        }
    }

    private void bignums(DataType type, BaseVariableWidthVector vector, int rows) {
        long offsets = vector.getOffsetBufferAddress();
        for (int row = 0; row < rows; row++) {
            int from = Memory.getInt(offsets + 4L * row);
            int length = Memory.getInt(offsets + 4L * row + 4) - from;
            long address = vector.getDataBufferAddress() + from;
            if (!vector.isNull(row) && !isOf(type, address, length)) {
                throw at(row, MillraceException.user(SqlState.INVALID_TEXT_REPRESENTATION, "no value of type " + type));
            }
        }
    }

    private static boolean isOf(DataType type, long address, int length) {
        if (!BignumBytes.isNumber(address, length)) {
            return false;
        }
        if (type.precision() == 0) {
            return true;
        }
        Bignum number = Bignum.at(address, length);
        return number.limited(type.precision(), type.scale())
                .filter(number::equals)
                .isPresent();
    }

    private MillraceException at(int row, MillraceException error) {
        return error.in("row " + (row + 1) + ", column " + field.name());
    }
}
