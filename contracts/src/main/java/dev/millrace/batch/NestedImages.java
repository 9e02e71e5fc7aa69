package dev.millrace.batch;

import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarBinaryVector;

/**
 * Columns of one batch as byte strings: text and BYTEA as they are, ARRAY and ROW through an image of each value, made
 * at first use. {@link #clear} goes to the next batch.
 */
public final class NestedImages implements AutoCloseable {
    private final BufferAllocator allocator;
    private final Map<Integer, VarBinaryVector> images = new HashMap<>();
    private final NestedCodec codec = new NestedCodec();

    public NestedImages(BufferAllocator allocator) {
        this.allocator = allocator;
    }

    /** Address of the column's offsets. */
    public long offsetsAddress(Batch batch, int column) {
        return isNested(batch, column) ? image(batch, column).getOffsetBufferAddress() : batch.offsetsAddress(column);
    }

    /** Address of the column's bytes. */
    public long dataAddress(Batch batch, int column) {
        return isNested(batch, column) ? image(batch, column).getDataBufferAddress() : batch.dataAddress(column);
    }

    private static boolean isNested(Batch batch, int column) {
        Kind kind = batch.schema().type(column).kind();
        return kind == Kind.ARRAY || kind == Kind.ROW;
    }

    private VarBinaryVector image(Batch batch, int column) {
        VarBinaryVector known = images.get(column);
        if (known != null) {
            return known;
        }
        DataType type = batch.schema().type(column);
        FieldVector values = batch.column(column);
        VarBinaryVector image = (VarBinaryVector)
                ArrowTypes.arrowField(new Field("image", DataType.BYTEA, true)).createVector(allocator);
        images.put(column, image);
        image.allocateNew(16L * batch.rowCount() + 8, batch.rowCount() + 1);
        for (int row = 0; row < batch.rowCount(); row++) {
            if (values.isNull(row)) {
                image.setNull(row);
            } else {
                ByteBuffer bytes = codec.encode(values, type, row);
                image.setSafe(row, bytes.array(), 0, bytes.limit());
            }
        }
        image.setValueCount(batch.rowCount());
        return image;
    }

    /** Forgets the batch. */
    public void clear() {
        if (!images.isEmpty()) {
            List<VarBinaryVector> all = new ArrayList<>(images.values());
            images.clear();
            Closing.all(all);
        }
    }

    @Override
    public void close() {
        clear();
    }
}
