package dev.millrace.storage.column;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;

/** Makes vectors of encoded columns. For one thread. */
public final class ColumnDecoder {
    private final ByteInput in;
    private final BufferAllocator allocator;

    private ColumnDecoder(ByteInput in, BufferAllocator allocator) {
        this.in = in;
        this.allocator = allocator;
    }

    /**
     * Reads a column.
     *
     * @param in its bytes, all of them
     * @param rows how many values it has
     * @return the caller's
     * @throws EncodingException if they are no such column
     */
    public static FieldVector read(ByteInput in, Field field, int rows, BufferAllocator allocator) {
        FieldVector vector = ArrowTypes.arrowField(field).createVector(allocator);
        try {
            new ColumnDecoder(in, allocator).read(vector, field.type(), rows);
            in.end();
            return vector;
        } catch (RuntimeException | Error e) {
            vector.close();
            throw e;
        }
    }

    private void read(FieldVector vector, DataType type, int count) {
        int nulls = in.getByte();
        if (nulls == ColumnBuffer.ALL_NULLS) {
            readNulls(vector, type, count);
            return;
        }
        if (nulls != ColumnBuffer.NO_NULLS && nulls != ColumnBuffer.SOME_NULLS) {
            throw new EncodingException("a column says " + nulls + " of its NULLs");
        }
        if (type.kind() == DataType.Kind.NULL) {
            if (count > 0) {
                throw new EncodingException("a column of NULLs has values");
            }
            vector.setValueCount(count);
            return;
        }
        List<ArrowBuf> buffers = new ArrayList<>();
        try {
            int valid = count;
            if (nulls == ColumnBuffer.SOME_NULLS) {
                long validity = buffer(ColumnBuffer.bitBytes(count), buffers).memoryAddress();
                copyBits(count, validity);
                valid = ones(validity, count);
            } else {
                buffers.add(allocator.getEmpty()); // for which Arrow makes one of its own
            }
            switch (type.kind()) {
                case BOOLEAN ->
                    readBits(
                            count, buffer(ColumnBuffer.bitBytes(count), buffers).memoryAddress());
                case SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ ->
                    FixedWidth.read(in, count, type.fixedWidth(), fixed(type, count, buffers));
                case REAL, DOUBLE ->
                    FloatEncoding.read(in, count, type.kind() == DataType.Kind.REAL, fixed(type, count, buffers));
                case NUMERIC -> readNumeric(count, fixed(type, count, buffers));
                case INTERVAL -> {
                    long to = fixed(type, count, buffers);
                    FixedWidth.read(IntegerCursor.open(in, count), count, 4, 16, 0, to);
                    FixedWidth.read(IntegerCursor.open(in, count), count, 4, 16, 4, to);
                    FixedWidth.read(IntegerCursor.open(in, count), count, 8, 16, 8, to);
                }
                case BIGNUM, TEXT, VARCHAR, CHAR, JSONB, BYTEA -> TextEncoding.read(in, count, allocator, buffers);
                case UUID -> readUuids(count, buffers);
                case ARRAY ->
                    TextEncoding.readEnds(
                            IntegerCursor.open(in, count),
                            count,
                            buffer(4L * count + 4, buffers).memoryAddress());
                case ROW, NULL -> {}
            }
            vector.loadFieldBuffers(new ArrowFieldNode(count, count - valid), buffers);
        } finally {
            Closing.all(buffers); // the vector holds references of its own
        }
        readWithin(vector, type, count);
    }

    private void readWithin(FieldVector vector, DataType type, int count) {
        if (type.kind() == DataType.Kind.ARRAY) {
            ListVector list = (ListVector) vector;
            int elements = Memory.getInt(list.getOffsetBuffer().memoryAddress() + 4L * count);
            read(list.getDataVector(), type.element(), elements);
            list.setLastSet(count - 1);
        } else {
            for (int child = 0; child < type.fields().size(); child++) {
                read(
                        vector.getChildrenFromFields().get(child),
                        type.fields().get(child).type(),
                        count);
            }
        }
    }

    private ArrowBuf buffer(long bytes, List<ArrowBuf> buffers) {
        ArrowBuf buffer = allocator.buffer(bytes);
        buffers.add(buffer);
        buffer.writerIndex(bytes);
        return buffer;
    }

    private long fixed(DataType type, int count, List<ArrowBuf> buffers) {
        return buffer((long) count * type.fixedWidth(), buffers).memoryAddress();
    }

    private void copyBits(int count, long to) {
        int bytes = ColumnBuffer.bitBytes(count);
        Memory.copy(in.take(bytes), to, bytes);
        if ((count & 7) != 0) { // what is behind them is nobody's
            long last = to + bytes - 1;
            Memory.putByte(last, (byte) (Memory.getByte(last) & (1 << (count & 7)) - 1));
        }
    }

    private static int ones(long bits, int count) {
        int bytes = ColumnBuffer.bitBytes(count);
        int ones = 0;
        int at = 0;
        for (; at + 8 <= bytes; at += 8) {
            ones += Long.bitCount(Memory.getLong(bits + at));
        }
        for (; at < bytes; at++) {
            ones += Integer.bitCount(Memory.getByte(bits + at) & 0xff);
        }
        return ones;
    }

    private void readBits(int count, long to) {
        int form = in.getByte();
        switch (form) {
            case ColumnBuffer.ALL_FALSE -> Memory.fill(to, ColumnBuffer.bitBytes(count), (byte) 0);
            case ColumnBuffer.ALL_TRUE -> Vectors.setBits(to, count);
            case ColumnBuffer.MIXED -> copyBits(count, to);
            default -> throw new EncodingException("there is no form " + form + " of truth values");
        }
    }

    private void readNumeric(int count, long to) {
        int form = in.getByte();
        switch (form) {
            case 0 -> FixedWidth.read(in, count, 16, to);
            case 1 -> {
                FixedWidth.read(IntegerCursor.open(in, count), count, 8, 16, 0, to);
                FixedWidth.read(IntegerCursor.open(in, count), count, 8, 16, 8, to);
            }
            default -> throw new EncodingException("there is no form " + form + " of numerics");
        }
    }

    private void readUuids(int count, List<ArrowBuf> buffers) {
        List<ArrowBuf> texts = new ArrayList<>();
        try {
            TextEncoding.read(in, count, allocator, texts);
            long ends = texts.get(0).memoryAddress();
            for (int i = 1; i <= count; i++) {
                if (Memory.getInt(ends + 4L * i) != 16L * i) {
                    throw new EncodingException("a UUID has another length than 16 bytes");
                }
            }
            buffers.add(texts.remove(1));
        } finally {
            Closing.all(texts);
        }
    }

    /** A vector of nothing but NULL, also within. */
    private void readNulls(FieldVector vector, DataType type, int count) {
        if (type.kind() == DataType.Kind.NULL) {
            vector.setValueCount(count);
            return;
        }
        List<ArrowBuf> buffers = new ArrayList<>();
        try {
            zeros(ColumnBuffer.bitBytes(count), buffers);
            switch (type.kind()) {
                case BOOLEAN -> zeros(ColumnBuffer.bitBytes(count), buffers);
                case BIGNUM, TEXT, VARCHAR, CHAR, JSONB, BYTEA -> {
                    zeros(4L * count + 4, buffers);
                    zeros(0, buffers);
                }
                case ARRAY -> zeros(4L * count + 4, buffers);
                case ROW, NULL -> {}
                default -> zeros((long) count * type.fixedWidth(), buffers);
            }
            vector.loadFieldBuffers(new ArrowFieldNode(count, count), buffers);
        } finally {
            Closing.all(buffers);
        }
        if (type.kind() == DataType.Kind.ARRAY) {
            readNulls(((ListVector) vector).getDataVector(), type.element(), 0);
            ((ListVector) vector).setLastSet(count - 1);
        } else {
            for (int child = 0; child < type.fields().size(); child++) {
                readNulls(
                        vector.getChildrenFromFields().get(child),
                        type.fields().get(child).type(),
                        count);
            }
        }
    }

    private void zeros(long bytes, List<ArrowBuf> buffers) {
        ArrowBuf buffer = buffer(bytes, buffers);
        Memory.fill(buffer.memoryAddress(), bytes, (byte) 0);
    }
}
