package dev.millrace.engine.view;

import dev.millrace.engine.state.RowCodec;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Columns by whose values joins find rows, any number of which may share them.
 *
 * @param columns in the order of the join's key, of types that {@link KeyColumns#suits}
 */
record JoinColumns(List<Integer> columns) implements IndexKey {
    JoinColumns {
        columns = List.copyOf(columns);
    }

    @Override
    public RowIndex newIndex(RowCodec codec, BufferAllocator allocator) {
        return new KeyLists(columns, codec, allocator);
    }
}
