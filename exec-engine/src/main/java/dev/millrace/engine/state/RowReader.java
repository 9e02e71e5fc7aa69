package dev.millrace.engine.state;

import dev.millrace.type.Schema;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Turns kept rows back into columns. Used by one thread at a time. */
public interface RowReader {
    /** How many columns a row has. */
    int columnCount();

    /**
     * Adds the columns of rows to {@code vectors}, in their order; what was added before a failure is the caller's, too.
     *
     * @param fields of the vectors, from {@code first} on
     * @param rows addresses, of which there are {@code count}
     */
    void decode(Schema fields, int first, long[] rows, int count, List<FieldVector> vectors, BufferAllocator target);
}
