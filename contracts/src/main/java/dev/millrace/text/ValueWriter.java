package dev.millrace.text;

import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/** Appends values to a buffer in the text form of PostgreSQL's output functions. Stateless; allocates nothing per value. */
public final class ValueWriter {
    private static final long NANOS_PER_MICRO = 1000;

    private ValueWriter() {}

    /** PostgreSQL's one-letter form. */
    public static void bool(TextBuffer out, boolean value) {
        out.append(value ? 't' : 'f');
    }

    /** Any integer type. */
    public static void integer(TextBuffer out, long value) {
        Digits.writeLong(out, value);
    }

    /** The shortest digits that read back as the same number. */
    public static void real(TextBuffer out, float value) {
        ShortestDecimal.write(out, value);
    }

    /** The shortest digits that read back as the same number. */
    public static void float8(TextBuffer out, double value) {
        ShortestDecimal.write(out, value);
    }

    /** A signed 128-bit unscaled value. */
    public static void numeric(TextBuffer out, long high, long low, int scale) {
        NumericText.write(out, high, low, scale);
    }

    public static void date(TextBuffer out, long days) {
        DateTimeText.writeDate(out, days);
    }

    /** Microseconds since midnight. */
    public static void time(TextBuffer out, long micros) {
        DateTimeText.writeTime(out, micros);
    }

    public static void timestamp(TextBuffer out, long micros) {
        DateTimeText.writeTimestamp(out, micros, false);
    }

    /** Always in UTC, with {@code +00} behind. */
    public static void timestamptz(TextBuffer out, long micros) {
        DateTimeText.writeTimestamp(out, micros, true);
    }

    public static void interval(TextBuffer out, int months, int days, long micros) {
        IntervalText.write(out, months, days, micros);
    }

    /** Sixteen bytes at {@code address}. */
    public static void uuid(TextBuffer out, long address) {
        BinaryText.writeUuid(out, address);
    }

    /** {@code \x} and hexadecimal digits. */
    public static void bytea(TextBuffer out, long address, int length) {
        BinaryText.writeBytea(out, address, length);
    }

    /** The value of a row, which is not NULL; CHAR(n) padded with blanks, arrays as {@code {1,NULL}}, rows as {@code (1,)}. */
    public static void value(TextBuffer out, DataType type, FieldVector vector, int row) {
        switch (type.kind()) {
            case BOOLEAN -> bool(out, Memory.getBit(vector.getDataBufferAddress(), row));
            case SMALLINT -> integer(out, Memory.getShort(vector.getDataBufferAddress() + 2L * row));
            case INTEGER -> integer(out, Memory.getInt(vector.getDataBufferAddress() + 4L * row));
            case BIGINT -> integer(out, Memory.getLong(vector.getDataBufferAddress() + 8L * row));
            case REAL -> real(out, Memory.getFloat(vector.getDataBufferAddress() + 4L * row));
            case DOUBLE -> float8(out, Memory.getDouble(vector.getDataBufferAddress() + 8L * row));
            case NUMERIC -> {
                long at = vector.getDataBufferAddress() + 16L * row;
                numeric(out, Memory.getLong(at + 8), Memory.getLong(at), type.scale());
            }
            case DATE -> date(out, Memory.getInt(vector.getDataBufferAddress() + 4L * row));
            case TIME -> time(out, Memory.getLong(vector.getDataBufferAddress() + 8L * row));
            case TIMESTAMP -> timestamp(out, Memory.getLong(vector.getDataBufferAddress() + 8L * row));
            case TIMESTAMPTZ -> timestamptz(out, Memory.getLong(vector.getDataBufferAddress() + 8L * row));
            case INTERVAL -> {
                long at = vector.getDataBufferAddress() + 16L * row;
                interval(out, Memory.getInt(at), Memory.getInt(at + 4), Memory.getLong(at + 8) / NANOS_PER_MICRO);
            }
            case UUID -> uuid(out, vector.getDataBufferAddress() + 16L * row);
            case TEXT, VARCHAR, JSONB, CHAR, BYTEA -> variable(out, type, (BaseVariableWidthVector) vector, row);
            case ARRAY -> array(out, type.element(), (ListVector) vector, row);
            case ROW -> row(out, type, (StructVector) vector, row);
            case NULL -> throw new IllegalArgumentException("a NULL has no text");
        }
    }

    private static void variable(TextBuffer out, DataType type, BaseVariableWidthVector vector, int row) {
        long offsets = vector.getOffsetBufferAddress() + 4L * row;
        int from = Memory.getInt(offsets);
        int length = Memory.getInt(offsets + 4) - from;
        long address = vector.getDataBufferAddress() + from;
        if (type.kind() == DataType.Kind.BYTEA) {
            bytea(out, address, length);
            return;
        }
        out.append(address, length);
        if (type.kind() == DataType.Kind.CHAR) {
            for (int i = Utf8.characters(address, length); i < type.precision(); i++) {
                out.append(' ');
            }
        }
    }

    private static void array(TextBuffer out, DataType element, ListVector vector, int row) {
        FieldVector values = vector.getDataVector();
        out.append('{');
        int end = vector.getElementEndIndex(row);
        for (int i = vector.getElementStartIndex(row); i < end; i++) {
            if (i > vector.getElementStartIndex(row)) {
                out.append(',');
            }
            if (values.isNull(i)) {
                out.appendAscii("NULL");
            } else {
                long start = out.length();
                value(out, element, values, i);
                if (element.kind() != DataType.Kind.ARRAY) {
                    quoteFrom(out, start, true);
                }
            }
        }
        out.append('}');
    }

    private static void row(TextBuffer out, DataType type, StructVector vector, int row) {
        out.append('(');
        for (int i = 0; i < type.fields().size(); i++) {
            if (i > 0) {
                out.append(',');
            }
            FieldVector child = (FieldVector) vector.getChildByOrdinal(i);
            if (!child.isNull(row)) {
                long start = out.length();
                value(out, type.fields().get(i).type(), child, row);
                quoteFrom(out, start, false);
            }
        }
        out.append(')');
    }

    /** Puts what was written from {@code start} on in quotes where an array's or row's syntax asks for it. */
    public static void quoteFrom(TextBuffer out, long start, boolean inArray) {
        int length = (int) (out.length() - start);
        long address = out.address() + start;
        int escapes = 0;
        boolean quote = length == 0 || (inArray && isNullWord(address, length));
        for (int i = 0; i < length; i++) {
            byte c = Memory.getByte(address + i);
            escapes += c == '"' || c == '\\' ? 1 : 0;
            quote |= c == '"' || c == '\\' || c == ',' || Blanks.isBlank(c);
            quote |= inArray ? c == '{' || c == '}' : c == '(' || c == ')';
        }
        if (!quote) {
            return;
        }
        out.room(escapes + 2L);
        long from = out.address() + start + length;
        long to = from + escapes + 2;
        out.end(to);
        Memory.putByte(--to, (byte) '"');
        for (int i = 0; i < length; i++) {
            byte c = Memory.getByte(--from);
            Memory.putByte(--to, c);
            if (c == '"' || c == '\\') {
                Memory.putByte(--to, inArray ? (byte) '\\' : c); // a row doubles them
            }
        }
        Memory.putByte(--to, (byte) '"');
    }

    private static boolean isNullWord(long address, int length) {
        return length == 4 && (Memory.getInt(address) | 0x20202020) == 0x6c6c756e; // "null", little endian
    }
}
