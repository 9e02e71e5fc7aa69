package dev.millrace.batch;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.number.BignumBytes;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.BitVectorHelper;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/**
 * Values of ARRAY and ROW as bytes and back: a byte that says whether it is NULL, then the value; an array as a count and
 * its elements. Equal values have equal bytes. One value at a time: nested values are rare as keys and state.
 */
public final class NestedCodec {
    private static final int FIRST_BYTES = 256;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private ByteBuffer buffer = NOTHING; // most never have a value: there is one for each operator

    /** The bytes of a value that is not NULL; valid until the next call. */
    public ByteBuffer encode(FieldVector vector, DataType type, int row) {
        buffer.clear();
        write(vector, type, row);
        return buffer.flip();
    }

    private void writeNullable(FieldVector vector, DataType type, int row) {
        boolean isNull = vector.isNull(row);
        room(1).put((byte) (isNull ? 0 : 1));
        if (!isNull) {
            write(vector, type, row);
        }
    }

    private void write(FieldVector vector, DataType type, int row) {
        if (vector instanceof BitVector bits) {
            room(1).put((byte) bits.get(row));
        } else if (vector instanceof BaseFixedWidthVector fixed) {
            int width = type.fixedWidth();
            ByteBuffer target = room(width);
            for (int at = 0; at < width; at++) {
                target.put(fixed.getDataBuffer().getByte((long) row * width + at));
            }
        } else if (vector instanceof BaseVariableWidthVector variable) {
            int start = variable.getOffsetBuffer().getInt(4L * row);
            int length = variable.getOffsetBuffer().getInt(4L * row + 4) - start;
            int kept = type.kind() == DataType.Kind.BIGNUM ? BignumBytes.keyLength(length) : length;
            byte[] bytes = new byte[kept];
            variable.getDataBuffer().getBytes(start, bytes);
            room(4 + kept).putInt(kept).put(bytes);
        } else if (vector instanceof ListVector list) {
            int start = list.getElementStartIndex(row);
            int end = list.getElementEndIndex(row);
            room(4).putInt(end - start);
            for (int element = start; element < end; element++) {
                writeNullable(list.getDataVector(), type.element(), element);
            }
        } else if (vector instanceof StructVector struct) {
            for (int field = 0; field < type.fields().size(); field++) {
                writeNullable(
                        (FieldVector) struct.getChildByOrdinal(field),
                        type.fields().get(field).type(),
                        row);
            }
        } else {
            throw new IllegalArgumentException(type + " has no bytes");
        }
    }

    private ByteBuffer room(int bytes) {
        if (buffer.remaining() < bytes) {
            byte[] larger = Arrays.copyOf(buffer.array(), Math.max(FIRST_BYTES, 2 * (buffer.position() + bytes)));
            buffer = ByteBuffer.wrap(larger).order(ByteOrder.LITTLE_ENDIAN).position(buffer.position());
        }
        return buffer;
    }

    /** Writes the value that {@code in} has next at {@code row}, growing the vector. */
    public void decode(ByteBuffer in, FieldVector vector, DataType type, int row) {
        if (vector instanceof BitVector bits) {
            bits.setSafe(row, in.get());
        } else if (vector instanceof BaseFixedWidthVector fixed) {
            while (row >= fixed.getValueCapacity()) {
                fixed.reAlloc();
            }
            int width = type.fixedWidth();
            for (int at = 0; at < width; at++) {
                fixed.getDataBuffer().setByte((long) row * width + at, in.get());
            }
            BitVectorHelper.setBit(fixed.getValidityBuffer(), row);
        } else if (vector instanceof BaseVariableWidthVector variable) {
            byte[] bytes = new byte[in.getInt()];
            in.get(bytes);
            variable.setSafe(row, bytes);
        } else if (vector instanceof ListVector list) {
            int count = in.getInt();
            int at = list.startNewValue(row);
            for (int element = 0; element < count; element++) {
                Interrupt.checkSometimes(element);
                decodeNullable(in, list.getDataVector(), type.element(), at + element);
            }
            list.endValue(row, count);
        } else if (vector instanceof StructVector struct) {
            while (row >= struct.getValueCapacity()) {
                struct.reAlloc();
            }
            for (int field = 0; field < type.fields().size(); field++) {
                decodeNullable(
                        in,
                        (FieldVector) struct.getChildByOrdinal(field),
                        type.fields().get(field).type(),
                        row);
            }
            struct.setIndexDefined(row);
        } else {
            throw new IllegalArgumentException(type + " has no bytes");
        }
    }

    private void decodeNullable(ByteBuffer in, FieldVector vector, DataType type, int row) {
        if (in.get() != 0) {
            decode(in, vector, type, row);
        } else {
            setNull(vector, row);
        }
    }

    /** Sets NULL at {@code row}, growing the vector. */
    public static void setNull(FieldVector vector, int row) {
        if (vector instanceof NullVector nulls) { // without memory, so that its capacity would never grow
            nulls.setValueCount(Math.max(nulls.getValueCount(), row + 1));
            return;
        }
        while (row >= vector.getValueCapacity()) {
            vector.reAlloc();
        }
        vector.setNull(row);
    }

    /** The arrays or rows of which {@code images} holds the images; the caller's. */
    public static FieldVector values(BaseVariableWidthVector images, Field field, int rows, BufferAllocator allocator) {
        FieldVector values = Vectors.allocate(field, rows, 0, allocator);
        try {
            NestedCodec codec = new NestedCodec();
            for (int row = 0; row < rows; row++) {
                if (images.isNull(row)) {
                    NestedCodec.setNull(values, row);
                } else {
                    int start = images.getOffsetBuffer().getInt(4L * row);
                    int length = images.getOffsetBuffer().getInt(4L * row + 4) - start;
                    ByteBuffer image = images.getDataBuffer().nioBuffer(start, length);
                    codec.decode(image.order(ByteOrder.LITTLE_ENDIAN), values, field.type(), row);
                }
            }
            values.setValueCount(rows);
            return values;
        } catch (RuntimeException | Error e) {
            values.close();
            throw e;
        }
    }
}
