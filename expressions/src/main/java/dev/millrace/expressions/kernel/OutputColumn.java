package dev.millrace.expressions.kernel;

import dev.millrace.batch.NestedCodec;
import dev.millrace.batch.Vectors;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;

/** A vector that a kernel fills through raw addresses. Owns it until {@link #finish}. */
public final class OutputColumn implements AutoCloseable {
    private final FieldVector vector; // of images, when the type is nested
    private final Optional<Field> nested;
    private final BufferAllocator allocator;
    private long imageBytes; // of a finished nested column
    private boolean passedOn;

    /** @param textBytes room for data to begin with, when the type is of variable width */
    public OutputColumn(Field field, int rows, long textBytes, BufferAllocator allocator) {
        boolean isNested = field.type().isNested();
        this.nested = isNested ? Optional.of(field) : Optional.empty();
        this.allocator = allocator;
        Field stored = isNested ? new Field(field.name(), DataType.BYTEA, field.nullable()) : field;
        this.vector = Vectors.allocate(stored, rows, textBytes, allocator);
    }

    /** Address of the values. */
    public long data() {
        return vector.getDataBufferAddress();
    }

    /** Address of the validity bitmap. */
    public long validity() {
        return vector.getValidityBufferAddress();
    }

    /** Address of the offsets of a column of variable width. */
    public long offsets() {
        return vector.getOffsetBufferAddress();
    }

    /** Bytes there is room for in a column of variable width. */
    public long capacity() {
        return Vectors.dataCapacity(vector);
    }

    /** Makes room for more bytes behind those used; {@link #data} and {@link #capacity} are new afterwards. */
    public void grow(long usedBytes, long moreBytes) {
        if (usedBytes + moreBytes > Integer.MAX_VALUE) {
            throw MillraceException.resources(
                    SqlState.PROGRAM_LIMIT_EXCEEDED, "the texts of one batch are larger than 2 GB");
        }
        Vectors.growData((BaseVariableWidthVector) vector, usedBytes, usedBytes + moreBytes);
    }

    /** Bytes of data in a finished column of variable width; 0 in others. */
    public long textBytes(int rows) {
        if (nested.isPresent()) {
            return imageBytes;
        }
        return vector instanceof BaseVariableWidthVector ? Memory.getInt(offsets() + 4L * rows) : 0;
    }

    /** No value is NULL. */
    public void allValid(int rows) {
        Vectors.setAllValid(vector, rows);
    }

    /** Writes the bits of rows {@code rows & ~63} to {@code rows}, the last and incomplete word of a bitmap. */
    public static void lastBits(long bitmap, int rows, long bits) {
        long at = bitmap + (rows >>> 6 << 3);
        long rest = bits;
        for (int left = rows & 63; left > 0; left -= 8) {
            Memory.putByte(at++, (byte) rest);
            rest >>>= 8;
        }
    }

    /** The finished vector, which is the caller's now. */
    public FieldVector finish(int rows) {
        Vectors.finish(vector, rows);
        if (nested.isEmpty()) {
            passedOn = true;
            return vector;
        }
        imageBytes = Memory.getInt(offsets() + 4L * rows);
        FieldVector values = NestedCodec.values((BaseVariableWidthVector) vector, nested.get(), rows, allocator);
        close();
        return values;
    }

    @Override
    public void close() {
        if (!passedOn) {
            passedOn = true;
            vector.close();
        }
    }
}
