package dev.millrace.connectors.avro;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.VectorText;
import dev.millrace.connectors.registry.SchemaFrame;
import dev.millrace.connectors.registry.SchemaRegistry;
import dev.millrace.format.RecordEncoder;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/** Rows as Avro's binary form, by the schema of {@link AvroTypes#schema}, which is registered before the first. Owned by one thread. */
final class AvroEncoder implements RecordEncoder {
    private static final int LONGEST_NUMBER = 10;

    private final Schema columns;
    private final org.apache.avro.Schema schema;
    private final Optional<SchemaRegistry> registry;
    private OptionalInt id = OptionalInt.empty();

    AvroEncoder(Schema columns, Optional<SchemaRegistry> registry) {
        this.columns = columns;
        this.schema = AvroTypes.schema(columns);
        this.registry = registry;
        registry.ifPresent(SchemaRegistry::subject); // so that a sink is not made without
    }

    @Override
    public void encode(Batch batch, int row, TextBuffer into) {
        if (registry.isPresent()) {
            if (id.isEmpty()) {
                id = OptionalInt.of(registry.get().register("AVRO", schema.toString()));
            }
            SchemaFrame.write(into, id.getAsInt());
        }
        for (int column = 0; column < columns.size(); column++) {
            field(into, columns.field(column), batch.column(column), row);
        }
    }

    private static void field(TextBuffer out, Field field, FieldVector vector, int row) {
        if (field.nullable()) {
            nullable(out, field.type(), vector, row);
        } else {
            value(out, field.type(), vector, row);
        }
    }

    private static void nullable(TextBuffer out, DataType type, FieldVector vector, int row) {
        boolean isNull = vector.isNull(row);
        number(out, isNull ? 0 : 1);
        if (!isNull) {
            value(out, type, vector, row);
        }
    }

    private static void value(TextBuffer out, DataType type, FieldVector vector, int row) {
        switch (type.kind()) {
            case BOOLEAN -> out.append((byte) (Memory.getBit(vector.getDataBufferAddress(), row) ? 1 : 0));
            case SMALLINT -> number(out, Memory.getShort(vector.getDataBufferAddress() + 2L * row));
            case INTEGER, DATE -> number(out, Memory.getInt(vector.getDataBufferAddress() + 4L * row));
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ ->
                number(out, Memory.getLong(vector.getDataBufferAddress() + 8L * row));
            case REAL -> out.append(vector.getDataBufferAddress() + 4L * row, 4);
            case DOUBLE -> out.append(vector.getDataBufferAddress() + 8L * row, 8);
            case NUMERIC -> {
                long at = vector.getDataBufferAddress() + 16L * row;
                byte[] unscaled = new BigInteger(ByteBuffer.allocate(16)
                                .putLong(Memory.getLong(at + 8))
                                .putLong(Memory.getLong(at))
                                .array())
                        .toByteArray();
                number(out, unscaled.length);
                out.append(unscaled);
            }
            case TEXT, VARCHAR, JSONB, BYTEA -> {
                long offsets = vector.getOffsetBufferAddress() + 4L * row;
                int from = Memory.getInt(offsets);
                int length = Memory.getInt(offsets + 4) - from;
                number(out, length);
                out.append(vector.getDataBufferAddress() + from, length);
            }
            case BIGNUM, CHAR, UUID, INTERVAL -> {
                long start = out.length();
                VectorText.value(out, type, vector, row);
                prefixLength(out, start);
            }
            case ARRAY -> array(out, type.element(), (ListVector) vector, row);
            case ROW -> {
                List<Field> fields = type.fields();
                for (int i = 0; i < fields.size(); i++) {
                    field(out, fields.get(i), (FieldVector) ((StructVector) vector).getChildByOrdinal(i), row);
                }
            }
            case NULL -> throw new IllegalArgumentException("a NULL has no value");
        }
    }

    private static void array(TextBuffer out, DataType element, ListVector vector, int row) {
        int first = vector.getElementStartIndex(row);
        int end = vector.getElementEndIndex(row);
        if (end > first) {
            number(out, end - first);
            for (int i = first; i < end; i++) {
                nullable(out, element, vector.getDataVector(), i);
            }
        }
        number(out, 0);
    }

    /** Puts the length of what was written from {@code start} on before it. */
    private static void prefixLength(TextBuffer out, long start) {
        long length = out.length() - start;
        number(out, length);
        long bytes = out.length() - start - length;
        byte[] prefix = new byte[(int) bytes];
        Memory.copyOut(out.address() + start + length, prefix, 0, prefix.length);
        Memory.copy(out.address() + start, out.address() + start + bytes, length);
        Memory.copyIn(prefix, 0, out.address() + start, prefix.length);
    }

    private static void number(TextBuffer out, long value) {
        long at = out.room(LONGEST_NUMBER);
        long bits = value << 1 ^ value >> 63;
        while ((bits & ~0x7fL) != 0) {
            Memory.putByte(at++, (byte) (bits | 0x80));
            bits >>>= 7;
        }
        Memory.putByte(at++, (byte) bits);
        out.end(at);
    }

    @Override
    public void close() {}
}
