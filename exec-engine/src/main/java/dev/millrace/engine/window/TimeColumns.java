package dev.millrace.engine.window;

import dev.millrace.batch.Vectors;
import dev.millrace.batch.text.ValueText;
import dev.millrace.memory.Memory;
import dev.millrace.type.Field;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Columns of 64-bit times. */
final class TimeColumns {
    private TimeColumns() {}

    /** The same time in each row. */
    static FieldVector constant(Field field, long micros, int count, BufferAllocator allocator) {
        FieldVector vector = Vectors.allocate(field, count, 0, allocator);
        long data = vector.getDataBufferAddress();
        for (int i = 0; i < count; i++) {
            Memory.putLong(data + 8L * i, micros);
        }
        return finish(vector, count);
    }

    /** The words at an offset of some entries, plus {@code added}. */
    static FieldVector words(
            Field field, long[] entries, int offset, long added, int count, BufferAllocator allocator) {
        FieldVector vector = Vectors.allocate(field, count, 0, allocator);
        long data = vector.getDataBufferAddress();
        for (int i = 0; i < count; i++) {
            Memory.putLong(data + 8L * i, Memory.getLong(entries[i] + offset) + added);
        }
        return finish(vector, count);
    }

    static String text(Field field, long micros, BufferAllocator allocator) {
        try (FieldVector time = constant(field, micros, 1, allocator)) {
            return ValueText.format(field.type(), time, 0).orElseThrow();
        }
    }

    private static FieldVector finish(FieldVector vector, int count) {
        Vectors.setAllValid(vector, count);
        Vectors.finish(vector, count);
        return vector;
    }
}
