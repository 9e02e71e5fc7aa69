package dev.millrace.engine.state.cold;

import dev.millrace.batch.Closing;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/** Items one behind the other in chunks that stay where they are; freed all at once. */
final class ColdPages implements AutoCloseable {
    private final BufferAllocator allocator;
    private final int itemBytes;
    private final int perChunk;
    private final List<ArrowBuf> chunks = new ArrayList<>();
    private long[] addresses = new long[1];
    private long expected; // items that are to come
    private long next;
    private long limit;

    /**
     * @param chunkBytes of a full chunk; one item at least
     * @param expected how many items there will be: the last chunk is no larger than it has to be
     */
    ColdPages(BufferAllocator allocator, int itemBytes, int chunkBytes, long expected) {
        this.allocator = allocator;
        this.itemBytes = itemBytes;
        this.perChunk = Math.max(1, chunkBytes / itemBytes);
        this.expected = expected;
    }

    /** Where another item is. */
    long add() {
        return add(1);
    }

    /** Where some items are, side by side; where these are more than one each time, {@link #at} does not know them. */
    long add(int items) {
        long bytes = (long) items * itemBytes;
        if (limit - next < bytes) {
            long inChunk = Math.max(items, Math.min(perChunk, expected));
            ArrowBuf chunk = allocator.buffer(inChunk * itemBytes);
            chunks.add(chunk);
            if (chunks.size() > addresses.length) {
                addresses = Arrays.copyOf(addresses, 2 * addresses.length);
            }
            next = chunk.memoryAddress();
            addresses[chunks.size() - 1] = next;
            limit = next + inChunk * itemBytes;
        }
        long item = next;
        next += bytes;
        expected -= items;
        return item;
    }

    /** Where an item is that was added. */
    long at(int i) {
        return addresses[i / perChunk] + (long) (i % perChunk) * itemBytes;
    }

    @Override
    public void close() {
        List<ArrowBuf> all = List.copyOf(chunks);
        chunks.clear();
        Closing.all(all);
    }
}
