package dev.millrace.expressions.user;

import dev.millrace.batch.NestedCodec;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.jspecify.annotations.Nullable;

/** Writes Java values into vectors, and reads them. For one thread. */
public final class VectorValues implements AutoCloseable {
    private final NestedCodec codec = new NestedCodec();
    private final TextBuffer image;

    public VectorValues(BufferAllocator allocator) {
        this.image = new TextBuffer(allocator, 256);
    }

    /** The value at a place; null for NULL. */
    public @Nullable Object read(FieldVector vector, DataType type, int row) {
        if (vector.isNull(row)) {
            return null;
        }
        ByteBuffer bytes = codec.encode(vector, type, row);
        image.clear();
        image.append((byte) 1);
        image.append(java.util.Arrays.copyOf(bytes.array(), bytes.limit()));
        return JavaValues.read(type, image.address());
    }

    /** Puts a value, null for NULL, at a place; places are written in order, and the vector grows. */
    public void write(FieldVector out, DataType type, int at, Object value) {
        if (value == null) {
            NestedCodec.setNull(out, at);
            return;
        }
        image.clear();
        JavaValues.write(image, type, value);
        ByteBuffer bytes = ByteBuffer.wrap(image.toBytes()).order(ByteOrder.LITTLE_ENDIAN);
        bytes.get(); // it is not NULL
        codec.decode(bytes, out, type, at);
    }

    @Override
    public void close() {
        image.close();
    }
}
