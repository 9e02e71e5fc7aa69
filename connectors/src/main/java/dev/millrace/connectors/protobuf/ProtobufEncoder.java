package dev.millrace.connectors.protobuf;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.VectorText;
import dev.millrace.connectors.registry.SchemaFrame;
import dev.millrace.connectors.registry.SchemaRegistry;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.RecordEncoder;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/** Rows as messages of the type that {@link ProtobufText} writes, which is registered before the first. Owned by one thread. */
final class ProtobufEncoder implements RecordEncoder {
    private static final long MICROS = 1_000_000;

    private final Schema columns;
    private final String text;
    private final Optional<SchemaRegistry> registry;
    private OptionalInt id = OptionalInt.empty();

    ProtobufEncoder(Schema columns, Optional<SchemaRegistry> registry) {
        this.columns = columns;
        this.text = ProtobufText.of(columns);
        this.registry = registry;
        registry.ifPresent(SchemaRegistry::subject); // so that a sink is not made without
    }

    @Override
    public void encode(Batch batch, int row, TextBuffer into) {
        if (registry.isPresent()) {
            if (id.isEmpty()) {
                id = OptionalInt.of(registry.get().register("PROTOBUF", text));
            }
            SchemaFrame.write(into, id.getAsInt());
            into.append((byte) 0); // the first message type
        }
        for (int column = 0; column < columns.size(); column++) {
            field(into, column + 1, columns.type(column), batch.column(column), row);
        }
    }

    private static void field(TextBuffer out, int number, DataType type, FieldVector vector, int row) {
        if (vector.isNull(row)) {
            return;
        }
        if (type.kind() == DataType.Kind.ARRAY) {
            ListVector list = (ListVector) vector;
            for (int i = list.getElementStartIndex(row); i < list.getElementEndIndex(row); i++) {
                if (list.getDataVector().isNull(i)) {
                    throw MillraceException.user(
                            SqlState.NULL_VALUE_NOT_ALLOWED, "a repeated field of protobuf has no place for a NULL");
                }
                field(out, number, type.element(), list.getDataVector(), i);
            }
            return;
        }
        ProtobufField.varint(out, (long) number << 3 | wire(type));
        switch (type.kind()) {
            case BOOLEAN -> out.append((byte) (Memory.getBit(vector.getDataBufferAddress(), row) ? 1 : 0));
            case SMALLINT -> ProtobufField.varint(out, Memory.getShort(vector.getDataBufferAddress() + 2L * row));
            case INTEGER -> ProtobufField.varint(out, Memory.getInt(vector.getDataBufferAddress() + 4L * row));
            case BIGINT -> ProtobufField.varint(out, Memory.getLong(vector.getDataBufferAddress() + 8L * row));
            case REAL -> out.append(vector.getDataBufferAddress() + 4L * row, 4);
            case DOUBLE -> out.append(vector.getDataBufferAddress() + 8L * row, 8);
            case TEXT, VARCHAR, JSONB, BYTEA -> {
                long offsets = vector.getOffsetBufferAddress() + 4L * row;
                int from = Memory.getInt(offsets);
                int length = Memory.getInt(offsets + 4) - from;
                ProtobufField.varint(out, length);
                out.append(vector.getDataBufferAddress() + from, length);
            }
            default -> {
                long start = out.length();
                message(out, type, vector, row);
                prefixLength(out, start);
            }
        }
    }

    private static void message(TextBuffer out, DataType type, FieldVector vector, int row) {
        if (type.isTimestamp()) {
            long micros = Memory.getLong(vector.getDataBufferAddress() + 8L * row);
            ProtobufField.varint(out, 1 << 3);
            ProtobufField.varint(out, Math.floorDiv(micros, MICROS));
            ProtobufField.varint(out, 2 << 3);
            ProtobufField.varint(out, 1000 * Math.floorMod(micros, MICROS));
        } else if (type.kind() == DataType.Kind.ROW) {
            List<Field> fields = type.fields();
            for (int i = 0; i < fields.size(); i++) {
                FieldVector child = (FieldVector) ((StructVector) vector).getChildByOrdinal(i);
                field(out, i + 1, fields.get(i).type(), child, row);
            }
        } else {
            VectorText.value(out, type, vector, row);
        }
    }

    private static int wire(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN, SMALLINT, INTEGER, BIGINT -> ProtobufInput.VARINT;
            case REAL -> ProtobufInput.FIXED32;
            case DOUBLE -> ProtobufInput.FIXED64;
            default -> ProtobufInput.BYTES;
        };
    }

    /** Puts the length of what was written from {@code start} on before it. */
    private static void prefixLength(TextBuffer out, long start) {
        long length = out.length() - start;
        ProtobufField.varint(out, length);
        int bytes = (int) (out.length() - start - length);
        byte[] prefix = new byte[bytes];
        Memory.copyOut(out.address() + start + length, prefix, 0, bytes);
        Memory.copy(out.address() + start, out.address() + start + bytes, length);
        Memory.copyIn(prefix, 0, out.address() + start, bytes);
    }

    @Override
    public void close() {}
}
