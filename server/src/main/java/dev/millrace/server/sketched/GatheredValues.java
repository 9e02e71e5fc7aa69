package dev.millrace.server.sketched;

import dev.millrace.batch.Vectors;
import dev.millrace.memory.Memory;
import dev.millrace.type.Field;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Values from here and there in one vector. Over raw memory, as each row that is read of a sketched stream goes through it. */
final class GatheredValues {
    private GatheredValues() {}

    /**
     * A vector of single values of others.
     *
     * @param field of a type that is not nested
     * @param from vectors of that type
     * @param vectorOf for each value, of which of them it is
     * @param rowOf for each value, its place there
     * @param count how many; the arrays may be longer
     */
    static FieldVector of(
            Field field, List<FieldVector> from, int[] vectorOf, int[] rowOf, int count, BufferAllocator allocator) {
        long[] data = new long[from.size()];
        long[] offsets = new long[from.size()];
        long[] validity = new long[from.size()];
        boolean hasNulls = false;
        int width = field.type().fixedWidth();
        for (int i = 0; i < data.length; i++) {
            FieldVector vector = from.get(i);
            data[i] = vector.getDataBufferAddress();
            offsets[i] = width < 0 ? vector.getOffsetBufferAddress() : 0;
            validity[i] = vector.getValidityBufferAddress();
            hasNulls |= vector.getNullCount() > 0;
        }
        long bytes = 0;
        if (width < 0) {
            for (int i = 0; i < count; i++) {
                long offset = offsets[vectorOf[i]] + 4L * rowOf[i];
                bytes += Memory.getInt(offset + 4) - Memory.getInt(offset);
            }
        }
        FieldVector vector = Vectors.allocate(field, count, bytes, allocator);
        long to = vector.getDataBufferAddress();
        switch (width) {
            case 0 -> {
                Memory.fill(to, (count + 7) >> 3, (byte) 0);
                for (int i = 0; i < count; i++) {
                    if (Memory.getBit(data[vectorOf[i]], rowOf[i])) {
                        Memory.setBit(to, i);
                    }
                }
            }
            case 2 -> {
                for (int i = 0; i < count; i++) {
                    Memory.putShort(to + 2L * i, Memory.getShort(data[vectorOf[i]] + 2L * rowOf[i]));
                }
            }
            case 4 -> {
                for (int i = 0; i < count; i++) {
                    Memory.putInt(to + 4L * i, Memory.getInt(data[vectorOf[i]] + 4L * rowOf[i]));
                }
            }
            case 8 -> {
                for (int i = 0; i < count; i++) {
                    Memory.putLong(to + 8L * i, Memory.getLong(data[vectorOf[i]] + 8L * rowOf[i]));
                }
            }
            case 16 -> {
                for (int i = 0; i < count; i++) {
                    long source = data[vectorOf[i]] + 16L * rowOf[i];
                    Memory.putLong(to + 16L * i, Memory.getLong(source));
                    Memory.putLong(to + 16L * i + 8, Memory.getLong(source + 8));
                }
            }
            default -> texts(vector, data, offsets, vectorOf, rowOf, count);
        }
        if (hasNulls) {
            validity(vector.getValidityBufferAddress(), validity, vectorOf, rowOf, count);
        } else {
            Vectors.setAllValid(vector, count);
        }
        Vectors.finish(vector, count);
        return vector;
    }

    private static void texts(FieldVector vector, long[] data, long[] offsets, int[] vectorOf, int[] rowOf, int count) {
        long to = vector.getDataBufferAddress();
        long ends = vector.getOffsetBufferAddress() + 4;
        int at = 0;
        for (int i = 0; i < count; i++) {
            long offset = offsets[vectorOf[i]] + 4L * rowOf[i];
            int first = Memory.getInt(offset);
            int length = Memory.getInt(offset + 4) - first;
            Memory.copy(data[vectorOf[i]] + first, to + at, length);
            at += length;
            Memory.putInt(ends + 4L * i, at);
        }
    }

    private static void validity(long to, long[] validity, int[] vectorOf, int[] rowOf, int count) {
        for (int i = 0; i < count; i++) {
            if (Memory.getBit(validity[vectorOf[i]], rowOf[i])) {
                Memory.setBit(to, i);
            }
        }
    }
}
