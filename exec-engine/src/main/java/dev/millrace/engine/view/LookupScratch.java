package dev.millrace.engine.view;

import dev.millrace.batch.Closing;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/** Memory for the lookups of one thread at a time, whatever they look for. */
public final class LookupScratch implements AutoCloseable {
    final KeyRow key;
    final FoundRows found;

    public LookupScratch(BufferAllocator allocator) {
        this.key = new KeyRow(allocator);
        this.found = new FoundRows(allocator);
    }

    @Override
    public void close() {
        Closing.all(List.of(key, found));
    }
}
