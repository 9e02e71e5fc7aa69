package dev.millrace.batch.text;

import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.Utf8;
import dev.millrace.text.ValueWriter;
import dev.millrace.type.DataType;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/** Appends values of vectors to a buffer in the text form of PostgreSQL's output functions. Stateless; allocates nothing per value. */
public final class VectorText {
    private static final long NANOS_PER_MICRO = 1000;

    private VectorText() {}

    /** The value of a row, which is not NULL; CHAR(n) padded with blanks, arrays as {@code {1,NULL}}, rows as {@code (1,)}. */
    public static void value(TextBuffer out, DataType type, FieldVector vector, int row) {
        switch (type.kind()) {
            case BOOLEAN -> ValueWriter.bool(out, Memory.getBit(vector.getDataBufferAddress(), row));
            case SMALLINT -> ValueWriter.integer(out, Memory.getShort(vector.getDataBufferAddress() + 2L * row));
            case INTEGER -> ValueWriter.integer(out, Memory.getInt(vector.getDataBufferAddress() + 4L * row));
            case BIGINT -> ValueWriter.integer(out, Memory.getLong(vector.getDataBufferAddress() + 8L * row));
            case REAL -> ValueWriter.real(out, Memory.getFloat(vector.getDataBufferAddress() + 4L * row));
            case DOUBLE -> ValueWriter.float8(out, Memory.getDouble(vector.getDataBufferAddress() + 8L * row));
            case NUMERIC -> {
                long at = vector.getDataBufferAddress() + 16L * row;
                ValueWriter.numeric(out, Memory.getLong(at + 8), Memory.getLong(at), type.scale());
            }
            case DATE -> ValueWriter.date(out, Memory.getInt(vector.getDataBufferAddress() + 4L * row));
            case TIME -> ValueWriter.time(out, Memory.getLong(vector.getDataBufferAddress() + 8L * row));
            case TIMESTAMP -> ValueWriter.timestamp(out, Memory.getLong(vector.getDataBufferAddress() + 8L * row));
            case TIMESTAMPTZ -> ValueWriter.timestamptz(out, Memory.getLong(vector.getDataBufferAddress() + 8L * row));
            case INTERVAL -> {
                long at = vector.getDataBufferAddress() + 16L * row;
                ValueWriter.interval(
                        out, Memory.getInt(at), Memory.getInt(at + 4), Memory.getLong(at + 8) / NANOS_PER_MICRO);
            }
            case UUID -> ValueWriter.uuid(out, vector.getDataBufferAddress() + 16L * row);
            case BIGNUM, TEXT, VARCHAR, JSONB, CHAR, BYTEA ->
                variable(out, type, (BaseVariableWidthVector) vector, row);
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
            ValueWriter.bytea(out, address, length);
            return;
        }
        if (type.kind() == DataType.Kind.BIGNUM) {
            ValueWriter.bignum(out, address, length);
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
                    ValueWriter.quoteFrom(out, start, true);
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
                ValueWriter.quoteFrom(out, start, false);
            }
        }
        out.append(')');
    }
}
