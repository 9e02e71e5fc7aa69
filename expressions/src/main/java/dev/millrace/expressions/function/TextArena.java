package dev.millrace.expressions.function;

import dev.millrace.batch.Closing;
import dev.millrace.expressions.function.bytes.Bytes;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/** Keeps text results until the end of a batch, when a later loop wants them again; they never move. */
public final class TextArena implements AutoCloseable {
    private static final int CHUNK_BYTES = 1 << 16;

    private final BufferAllocator allocator;
    private final List<ArrowBuf> chunks = new ArrayList<>();
    private long at;
    private long limit;

    public TextArena(BufferAllocator allocator) {
        this.allocator = allocator;
    }

    /** The address of a copy that stays. */
    public long keep(long address, int length) {
        if (limit - at < length) {
            ArrowBuf chunk = allocator.buffer(Math.max(CHUNK_BYTES, length));
            chunks.add(chunk);
            at = chunk.memoryAddress();
            limit = at + chunk.capacity();
        }
        long kept = at;
        Bytes.copy(address, kept, length);
        at += length;
        return kept;
    }

    /** Forgets everything but one chunk of memory. */
    public void clear() {
        if (chunks.size() > 1) {
            Closing.all(chunks.subList(1, chunks.size()));
            chunks.subList(1, chunks.size()).clear();
        }
        if (!chunks.isEmpty()) {
            at = chunks.get(0).memoryAddress();
            limit = at + chunks.get(0).capacity();
        }
    }

    @Override
    public void close() {
        Closing.all(chunks);
        chunks.clear();
        at = 0;
        limit = 0;
    }
}
