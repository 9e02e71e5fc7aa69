package dev.millrace.text;

import dev.millrace.batch.Batch;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/**
 * Writes rows as JSON objects, one per line, as PostgreSQL's row_to_json does: numbers as numbers but for NaN and
 * infinities, timestamps in ISO 8601 with a {@code T}, arrays as arrays, rows as objects, JSONB as it is, everything else
 * as text. Immutable; allocates nothing per row.
 */
public final class JsonRows {
    private static final String HEX = "0123456789abcdef";

    private final Schema schema;
    private final byte[][] keys; // with quotes and colon

    /** Rows of a schema. */
    public JsonRows(Schema schema) {
        this.schema = schema;
        this.keys = new byte[schema.size()][];
        for (int column = 0; column < keys.length; column++) {
            keys[column] = (quoted(schema.field(column).name()) + ":").getBytes(StandardCharsets.UTF_8);
        }
    }

    /** A row as an object, without a line end. */
    public void row(TextBuffer out, Batch batch, int row) {
        out.append('{');
        members(out, batch, row);
    }

    /** A row without its opening brace, for an object that has members before. */
    public void members(TextBuffer out, Batch batch, int row) {
        for (int column = 0; column < keys.length; column++) {
            if (column > 0) {
                out.append(',');
            }
            out.append(keys[column]);
            value(out, schema.type(column), batch.column(column), row);
        }
        out.append('}');
    }

    private static void value(TextBuffer out, DataType type, FieldVector vector, int row) {
        if (type.kind() == DataType.Kind.NULL || vector.isNull(row)) {
            out.appendAscii("null");
            return;
        }
        switch (type.kind()) {
            case BOOLEAN -> out.appendAscii(Memory.getBit(vector.getDataBufferAddress(), row) ? "true" : "false");
            case SMALLINT, INTEGER, BIGINT, NUMERIC, JSONB -> ValueWriter.value(out, type, vector, row);
            case REAL -> number(out, Memory.getFloat(vector.getDataBufferAddress() + 4L * row), type, vector, row);
            case DOUBLE -> number(out, Memory.getDouble(vector.getDataBufferAddress() + 8L * row), type, vector, row);
            case TIMESTAMP, TIMESTAMPTZ -> {
                out.append('"');
                long start = out.length();
                ValueWriter.value(out, type, vector, row);
                isoFrom(out, start);
                out.appendAscii(type.kind() == DataType.Kind.TIMESTAMPTZ ? ":00\"" : "\"");
            }
            case ARRAY -> array(out, type.element(), (ListVector) vector, row);
            case ROW -> object(out, type, (StructVector) vector, row);
            default -> {
                long start = out.length();
                ValueWriter.value(out, type, vector, row);
                quoteFrom(out, start);
            }
        }
    }

    private static void number(TextBuffer out, double value, DataType type, FieldVector vector, int row) {
        boolean finite = Math.abs(value) <= Double.MAX_VALUE;
        if (!finite) {
            out.append('"');
        }
        ValueWriter.value(out, type, vector, row);
        if (!finite) {
            out.append('"');
        }
    }

    /** Makes the blank between date and time, in what was written from {@code start} on, a T. */
    public static void isoFrom(TextBuffer out, long start) {
        for (long at = out.address() + start; at < out.address() + out.length(); at++) {
            if (Memory.getByte(at) == ' ') {
                Memory.putByte(at, (byte) 'T');
                return;
            }
        }
    }

    private static void array(TextBuffer out, DataType element, ListVector vector, int row) {
        out.append('[');
        int first = vector.getElementStartIndex(row);
        for (int i = first; i < vector.getElementEndIndex(row); i++) {
            if (i > first) {
                out.append(',');
            }
            value(out, element, vector.getDataVector(), i);
        }
        out.append(']');
    }

    private static void object(TextBuffer out, DataType type, StructVector vector, int row) {
        out.append('{');
        for (int i = 0; i < type.fields().size(); i++) {
            if (i > 0) {
                out.append(',');
            }
            long start = out.length();
            out.append(type.fields().get(i).name().getBytes(StandardCharsets.UTF_8));
            quoteFrom(out, start);
            out.append(':');
            value(out, type.fields().get(i).type(), (FieldVector) vector.getChildByOrdinal(i), row);
        }
        out.append('}');
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }

    /** Puts what was written from {@code start} on in quotes, with escapes. */
    public static void quoteFrom(TextBuffer out, long start) {
        int length = (int) (out.length() - start);
        int more = 2;
        for (int i = 0; i < length; i++) {
            byte c = Memory.getByte(out.address() + start + i);
            more += escapeBytes(c) - 1;
        }
        out.room(more);
        long from = out.address() + start + length;
        long to = from + more;
        out.end(to);
        Memory.putByte(--to, (byte) '"');
        for (int i = 0; i < length; i++) {
            byte c = Memory.getByte(--from);
            int bytes = escapeBytes(c);
            to -= bytes;
            if (bytes == 1) {
                Memory.putByte(to, c);
            } else {
                Memory.putByte(to, (byte) '\\');
                Memory.putByte(to + 1, escape(c));
                if (bytes == 6) {
                    Memory.putByte(to + 2, (byte) '0');
                    Memory.putByte(to + 3, (byte) '0');
                    Memory.putByte(to + 4, (byte) HEX.charAt(c >> 4));
                    Memory.putByte(to + 5, (byte) HEX.charAt(c & 15));
                }
            }
        }
        Memory.putByte(--to, (byte) '"');
    }

    private static int escapeBytes(byte c) {
        if (c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f') {
            return 2;
        }
        return c >= 0 && c < ' ' ? 6 : 1;
    }

    private static byte escape(byte c) {
        return switch (c) {
            case '\n' -> 'n';
            case '\b' -> 'b';
            case '\f' -> 'f';
            case '\r' -> 'r';
            case '\t' -> 't';
            case '"', '\\' -> c;
            default -> 'u';
        };
    }
}
