package dev.millrace.storage.batch;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.memory.Memory;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.jspecify.annotations.Nullable;

/** Makes a batch of the bytes of its columns. Trusts none of them: lengths and ends are checked before memory is filled. For one thread. */
final class ColumnReader {
    private final ByteBuffer in;
    private final BufferAllocator allocator;

    /** @param in little endian, from position to limit */
    ColumnReader(ByteBuffer in, BufferAllocator allocator) {
        this.in = in;
        this.allocator = allocator;
    }

    Batch read(Schema schema, int rows, boolean weighted) {
        @Nullable FieldVector[] columns = new FieldVector[schema.size()];
        @Nullable BigIntVector weights = null;
        try {
            if (weighted) {
                require(8L * rows);
                weights = Vectors.allocateWeights(rows, allocator);
                copy(weights.getDataBufferAddress(), 8 * rows);
                Vectors.finish(weights, rows);
            }
            for (int column = 0; column < columns.length; column++) {
                FieldVector vector = ArrowTypes.arrowField(schema.field(column)).createVector(allocator);
                columns[column] = vector;
                read(vector, rows);
            }
            if (in.hasRemaining()) {
                throw BatchBytes.damaged(in.remaining() + " bytes are behind its columns");
            }
            FieldVector[] whole =
                    Arrays.stream(columns).map(Objects::requireNonNull).toArray(FieldVector[]::new);
            return weights == null ? Batch.of(schema, whole, rows) : Batch.weighted(schema, whole, rows, weights);
        } catch (RuntimeException | Error e) {
            List<AutoCloseable> made = new ArrayList<>();
            Arrays.stream(columns).filter(Objects::nonNull).forEach(column -> made.add(column));
            if (weights != null) {
                made.add(weights);
            }
            Closing.all(made);
            throw e;
        }
    }

    private void read(FieldVector vector, int values) {
        require(1);
        byte nulls = in.get();
        if (nulls < ColumnBytes.NO_NULLS || nulls > ColumnBytes.ALL_NULLS) {
            throw BatchBytes.damaged("a column says " + nulls + " of its NULLs");
        }
        if (vector instanceof NullVector) {
            vector.setValueCount(values);
            return;
        }
        List<ArrowBuf> buffers = new ArrayList<>();
        try {
            boolean isEmpty = nulls == ColumnBytes.ALL_NULLS;
            int valid = isEmpty ? 0 : values;
            if (nulls == ColumnBytes.SOME_NULLS) {
                buffers.add(bits(values));
                valid = ones(buffers.get(0), values);
            } else {
                buffers.add(allocator.getEmpty()); // for which Arrow makes one of its own
            }
            int elements = 0;
            if (vector instanceof BitVector) {
                buffers.add(isEmpty ? zeros(ColumnBytes.bitBytes(values)) : bits(values));
            } else if (vector instanceof BaseFixedWidthVector fixed) {
                long bytes = (long) values * fixed.getTypeWidth();
                buffers.add(isEmpty ? zeros(bytes) : bytes(bytes));
            } else if (vector instanceof BaseVariableWidthVector || vector instanceof ListVector) {
                ArrowBuf ends = isEmpty ? zeros(4L * values + 4) : ends(values);
                buffers.add(ends);
                elements = values == 0 ? 0 : ends.getInt(4L * values);
                if (vector instanceof BaseVariableWidthVector) {
                    buffers.add(bytes(elements));
                }
            }
            vector.loadFieldBuffers(new ArrowFieldNode(values, values - valid), buffers);
            if (vector instanceof ListVector list) {
                readElements(list, values, elements, isEmpty);
            } else if (vector instanceof StructVector) {
                for (FieldVector child : vector.getChildrenFromFields()) {
                    if (isEmpty) {
                        allNull(child, values);
                    } else {
                        read(child, values);
                    }
                }
            }
        } finally {
            Closing.all(buffers); // the vector holds references of its own
        }
    }

    private void readElements(ListVector list, int values, int elements, boolean isEmpty) {
        FieldVector child = list.getDataVector();
        if (isEmpty) {
            allNull(child, 0);
        } else {
            read(child, elements);
        }
        list.setLastSet(values - 1);
    }

    /** What is within values of which all are NULL. */
    private void allNull(FieldVector vector, int values) {
        new ColumnReader(ByteBuffer.wrap(new byte[] {ColumnBytes.ALL_NULLS}), allocator).read(vector, values);
    }

    private void require(long bytes) {
        if (bytes > in.remaining()) {
            throw BatchBytes.damaged("a column has " + bytes + " bytes where " + in.remaining() + " are left");
        }
    }

    private ArrowBuf bytes(long length) {
        require(length);
        ArrowBuf buffer = allocator.buffer(length);
        copy(buffer.memoryAddress(), (int) length);
        buffer.writerIndex(length);
        return buffer;
    }

    private ArrowBuf bits(int values) {
        return bytes(ColumnBytes.bitBytes(values));
    }

    private ArrowBuf zeros(long length) {
        ArrowBuf buffer = allocator.buffer(length);
        Memory.fill(buffer.memoryAddress(), length, (byte) 0);
        buffer.writerIndex(length);
        return buffer;
    }

    /** Where values end, from the first on, which begins at 0. */
    private ArrowBuf ends(int values) {
        require(4L * values);
        ArrowBuf buffer = allocator.buffer(4L * values + 4);
        buffer.writerIndex(4L * values + 4);
        Memory.putInt(buffer.memoryAddress(), 0);
        int before = 0;
        for (int value = 1; value <= values; value++) {
            int end = in.getInt();
            if (end < before) {
                Closing.all(List.of(buffer));
                throw BatchBytes.damaged("a value ends before it begins");
            }
            Memory.putInt(buffer.memoryAddress() + 4L * value, end);
            before = end;
        }
        return buffer;
    }

    private static int ones(ArrowBuf bits, int values) {
        int ones = 0;
        for (int value = 0; value < values; value++) {
            ones += Memory.getBit(bits.memoryAddress(), value) ? 1 : 0;
        }
        return ones;
    }

    private void copy(long to, int length) {
        if (in.hasArray()) {
            Memory.copyIn(in.array(), in.arrayOffset() + in.position(), to, length);
            in.position(in.position() + length);
        } else {
            byte[] piece = new byte[length];
            in.get(piece);
            Memory.copyIn(piece, 0, to, length);
        }
    }
}
