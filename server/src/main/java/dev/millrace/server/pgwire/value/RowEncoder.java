package dev.millrace.server.pgwire.value;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.VectorText;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import org.apache.arrow.vector.FieldVector;

/**
 * Writes rows of one result as DataRow messages, each column as text or in binary. Stateless but for what it is made with;
 * allocates nothing per row.
 */
public final class RowEncoder {
    private final DataType[] types;
    private final boolean[] binary;

    /** @param binary by column whether its values are sent in binary */
    public RowEncoder(Schema schema, boolean[] binary) {
        this.types = schema.fields().stream().map(field -> field.type()).toArray(DataType[]::new);
        this.binary = binary.clone();
        assert types.length == binary.length : types.length + " columns, " + binary.length + " formats";
    }

    /** Writes how many columns a row has and then all of them in binary, as a binary COPY has it. */
    public static void binaryFields(TextBuffer out, Batch batch, int row) {
        BinaryValues.putShort(out, batch.columnCount());
        for (int column = 0; column < batch.columnCount(); column++) {
            BinaryValues.writeWithLength(out, batch.schema().type(column), batch.column(column), row);
        }
    }

    /** Writes a row's message. */
    public void row(TextBuffer out, Batch batch, int row) {
        out.append('D');
        long start = out.length();
        BinaryValues.putInt(out, 0);
        BinaryValues.putShort(out, types.length);
        for (int column = 0; column < types.length; column++) {
            FieldVector vector = batch.column(column);
            if (vector.isNull(row)) {
                BinaryValues.putInt(out, -1);
                continue;
            }
            long value = out.length();
            BinaryValues.putInt(out, 0);
            if (binary[column]) {
                BinaryValues.write(out, types[column], vector, row);
            } else {
                VectorText.value(out, types[column], vector, row);
            }
            BinaryValues.setLength(out, value);
        }
        // a message's length counts its own four bytes
        Memory.putInt(out.address() + start, Integer.reverseBytes((int) (out.length() - start)));
    }
}
