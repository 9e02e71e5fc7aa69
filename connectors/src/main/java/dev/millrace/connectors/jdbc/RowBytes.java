package dev.millrace.connectors.jdbc;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.VectorText;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarBinaryVector;

/**
 * Rows as bytes: of each column its length and its text as PostgreSQL writes it, of bytea the bytes themselves. Equal rows have equal
 * bytes. Owned by one thread.
 *
 * <pre>
 *   +-----------+---------+-----------+----+
 *   | length, 4 | bytes   | length, 4 | .. |      length -1: NULL
 *   +-----------+---------+-----------+----+
 * </pre>
 */
final class RowBytes {
    private static final int NULL = -1;

    private final Schema schema;
    private final TextBuffer scratch;
    private byte[] bytes = new byte[256];
    private int length;

    /** @param scratch stays the caller's */
    RowBytes(Schema schema, TextBuffer scratch) {
        this.schema = schema;
        this.scratch = scratch;
    }

    /** Some columns of a row. */
    byte[] of(Batch batch, int row, List<Integer> columns) {
        length = 0;
        for (int column : columns) {
            append(schema.type(column), batch.column(column), row);
        }
        return Arrays.copyOf(bytes, length);
    }

    private void append(DataType type, FieldVector vector, int row) {
        if (type.kind() == DataType.Kind.NULL || vector.isNull(row)) {
            number(NULL);
            return;
        }
        byte[] value;
        if (type.kind() == DataType.Kind.BYTEA) {
            value = ((VarBinaryVector) vector).get(row);
        } else {
            scratch.clear();
            VectorText.value(scratch, type, vector, row);
            value = scratch.toBytes();
        }
        number(value.length);
        require(value.length);
        System.arraycopy(value, 0, bytes, length, value.length);
        length += value.length;
    }

    private void number(int value) {
        require(Integer.BYTES);
        ByteBuffer.wrap(bytes).putInt(length, value);
        length += Integer.BYTES;
    }

    private void require(int more) {
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
        }
    }

    /** Is given a value of a row. */
    @FunctionalInterface
    interface Visitor<E extends Exception> {
        /** @param value empty if it is NULL */
        void value(int place, Optional<byte[]> value) throws E;
    }

    /** The values of a row, from the first place on. */
    static <E extends Exception> void read(byte[] row, Visitor<E> visitor) throws E {
        ByteBuffer in = ByteBuffer.wrap(row);
        for (int place = 0; in.hasRemaining(); place++) {
            int size = in.getInt();
            if (size == NULL) {
                visitor.value(place, Optional.empty());
            } else {
                byte[] value = new byte[size];
                in.get(value);
                visitor.value(place, Optional.of(value));
            }
        }
    }

    /** A row for users: {@code (a = 1, b = NULL)}, cut to some hundred characters. */
    static String text(byte[] row, Schema schema, List<Integer> columns) {
        StringBuilder text = new StringBuilder("(");
        read(row, (place, value) -> {
            int column = columns.get(place);
            String shown = schema.type(column).kind() == DataType.Kind.BYTEA
                    ? value.map(bytes -> bytes.length + " bytes").orElse("NULL")
                    : value.map(bytes -> new String(bytes, StandardCharsets.UTF_8))
                            .orElse("NULL");
            text.append(place == 0 ? "" : ", ")
                    .append(schema.field(column).name())
                    .append(" = ")
                    .append(shown);
        });
        String whole = text.append(")").toString();
        return whole.length() <= 300 ? whole : whole.substring(0, 300) + "..";
    }
}
