package dev.millrace.batch;

import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;

/**
 * Makes vectors and fills their buffers from raw writes. The pattern of a writer:
 *
 * <pre>
 *   FieldVector vector = Vectors.allocate(field, capacityRows, textBytes, allocator);
 *   long data = vector.getDataBufferAddress();       // write values at data + row * width (offsets too for text)
 *   Vectors.setAllValid(vector, rows);               // or write the validity bitmap
 *   Vectors.finish(vector, rows);                    // then it may go into a Batch
 * </pre>
 */
public final class Vectors {
    private Vectors() {}

    /**
     * A vector with room for {@code rows} values, and for {@code textBytes} bytes of data if it is of variable width.
     * Its contents are undefined but for the validity bitmap, which is all NULL, and offset 0, which is 0.
     */
    public static FieldVector allocate(Field field, int rows, long textBytes, BufferAllocator allocator) {
        FieldVector vector = ArrowTypes.arrowField(field).createVector(allocator);
        try {
            if (vector instanceof BaseFixedWidthVector fixed) {
                load(fixed, rows, allocator, (long) Math.max(1, rows) * fixed.getTypeWidth());
            } else if (vector instanceof BaseVariableWidthVector variable) {
                load(variable, rows, allocator, 4L * (rows + 1), Math.max(8, textBytes));
                Memory.putInt(variable.getOffsetBufferAddress(), 0);
            } else {
                vector.setInitialCapacity(rows);
                vector.allocateNew();
            }
            return vector;
        } catch (RuntimeException | Error e) {
            vector.close();
            throw e;
        }
    }

    /**
     * Gives a vector a validity bitmap, all NULL, and buffers of these sizes. Arrow's own allocation would fill them with
     * zeros, which costs as much as a loop over the values.
     */
    private static void load(FieldVector vector, int rows, BufferAllocator allocator, long... bufferBytes) {
        List<ArrowBuf> buffers = new ArrayList<>();
        try {
            int validityBytes = (Math.max(1, rows) + 7) >>> 3;
            buffers.add(allocator.buffer(validityBytes));
            for (long bytes : bufferBytes) {
                // A BitVector's values are as many bytes as its validity.
                buffers.add(allocator.buffer(Math.max(bytes, validityBytes)));
            }
            Memory.fill(buffers.get(0).memoryAddress(), validityBytes, (byte) 0);
            // Any length and null count but none or all, for which Arrow would make a bitmap of its own.
            vector.loadFieldBuffers(new ArrowFieldNode(rows + 2L, 1), buffers);
        } finally {
            Closing.all(buffers); // the vector holds references of its own
        }
    }

    /** A vector of weights, contents undefined but all valid. */
    public static BigIntVector allocateWeights(int rows, BufferAllocator allocator) {
        BigIntVector weights = (BigIntVector) allocate(new Field("weight", DataType.BIGINT, false), rows, 0, allocator);
        setAllValid(weights, rows);
        return weights;
    }

    /** Bytes of data a variable-width vector has room for. */
    public static long dataCapacity(FieldVector vector) {
        return vector.getDataBuffer().capacity();
    }

    /**
     * Makes room for {@code textBytes} bytes of data in a variable-width vector, keeping its offsets, its validity and
     * the first {@code usedBytes} of its data. Addresses taken before are invalid afterwards.
     */
    public static void growData(BaseVariableWidthVector vector, long usedBytes, long textBytes) {
        while (dataCapacity(vector) < textBytes) {
            // Arrow copies the whole old buffer, used or not, so the used bytes are kept.
            vector.reallocDataBuffer(Math.max(textBytes, 2 * dataCapacity(vector)));
        }
        assert usedBytes <= dataCapacity(vector);
    }

    /** Marks the first {@code rows} values as not NULL. */
    public static void setAllValid(FieldVector vector, int rows) {
        setBits(vector.getValidityBufferAddress(), rows);
    }

    /** Sets the first {@code bits} bits and clears the rest of the last byte. */
    public static void setBits(long address, int bits) {
        Memory.fill(address, bits >>> 3, (byte) -1);
        if ((bits & 7) != 0) {
            Memory.putByte(address + (bits >>> 3), (byte) ((1 << (bits & 7)) - 1));
        }
    }

    /** Sets the value count after raw writes, without Arrow touching what was written. */
    public static void finish(FieldVector vector, int rows) {
        if (vector instanceof BaseVariableWidthVector variable) {
            variable.setLastSet(rows - 1); // else setValueCount would overwrite the offsets
        }
        vector.setValueCount(rows);
        if (vector instanceof BaseVariableWidthVector variable && rows > 0) {
            ArrowBuf data = variable.getDataBuffer();
            data.writerIndex(Memory.getInt(variable.getOffsetBufferAddress() + 4L * rows));
        }
    }
}
