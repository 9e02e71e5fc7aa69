package dev.millrace.batch.text;

import dev.millrace.batch.Batch;
import dev.millrace.json.JsonStrings;
import dev.millrace.memory.Memory;
import dev.millrace.number.BignumBytes;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeRange;
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
    private final DataType[] types;
    private final byte[][] keys; // with quotes and colon

    /** Rows of a schema. */
    public JsonRows(Schema schema) {
        this.types = new DataType[schema.size()];
        this.keys = new byte[schema.size()][];
        for (int column = 0; column < keys.length; column++) {
            types[column] = schema.type(column);
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
            value(out, types[column], batch.column(column), row);
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
            case SMALLINT, INTEGER, BIGINT, NUMERIC, JSONB -> VectorText.value(out, type, vector, row);
            case BIGNUM -> {
                long start = out.length();
                VectorText.value(out, type, vector, row);
                if (!isFinite(vector, row)) {
                    JsonStrings.quoteFrom(out, start);
                }
            }
            case REAL -> number(out, Memory.getFloat(vector.getDataBufferAddress() + 4L * row), type, vector, row);
            case DOUBLE -> number(out, Memory.getDouble(vector.getDataBufferAddress() + 8L * row), type, vector, row);
            case TIMESTAMP, TIMESTAMPTZ -> {
                out.append('"');
                long start = out.length();
                VectorText.value(out, type, vector, row);
                JsonStrings.isoFrom(out, start);
                boolean hasOffset = type.kind() == DataType.Kind.TIMESTAMPTZ
                        && TimeRange.isFinite(Memory.getLong(vector.getDataBufferAddress() + 8L * row));
                out.appendAscii(hasOffset ? ":00\"" : "\"");
            }
            case ARRAY -> array(out, type.element(), (ListVector) vector, row);
            case ROW -> object(out, type, (StructVector) vector, row);
            default -> {
                long start = out.length();
                VectorText.value(out, type, vector, row);
                JsonStrings.quoteFrom(out, start);
            }
        }
    }

    private static boolean isFinite(FieldVector bignums, int row) {
        int from = Memory.getInt(bignums.getOffsetBufferAddress() + 4L * row);
        return BignumBytes.isFinite(bignums.getDataBufferAddress() + from);
    }

    private static void number(TextBuffer out, double value, DataType type, FieldVector vector, int row) {
        boolean finite = Math.abs(value) <= Double.MAX_VALUE;
        if (!finite) {
            out.append('"');
        }
        VectorText.value(out, type, vector, row);
        if (!finite) {
            out.append('"');
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
            JsonStrings.quoteFrom(out, start);
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
}
