package dev.millrace.engine.view;

import dev.millrace.engine.state.RowCodec;
import org.apache.arrow.memory.BufferAllocator;

/** What an index of a view is by; a view has one index for each. */
sealed interface IndexKey permits KeyColumns, OrderedColumns, JoinColumns {
    /** An index without rows. */
    RowIndex newIndex(RowCodec codec, BufferAllocator allocator);
}
