package dev.millrace.engine.join;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.type.Field;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** How kept rows lie in memory: gives a column of some of them, by their addresses, as a vector that is the caller's. */
@FunctionalInterface
interface RowColumns {
    FieldVector of(int column, Field field, long[] rows, int count);

    /** Of rows that a codec encoded. */
    static RowColumns of(RowCodec codec, BufferAllocator allocator) {
        return (column, field, rows, count) -> codec.decode(column, field, rows, count, allocator);
    }
}
