package dev.millrace.connectors.parquet;

import java.nio.ByteBuffer;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/** Memory for one thing at a time, which grows. Owned by one thread. */
final class ParquetMemory implements AutoCloseable {
    /** That may be read behind what was asked for. */
    static final int SLACK_BYTES = 16;

    private final BufferAllocator allocator;
    private ArrowBuf buffer;

    ParquetMemory(BufferAllocator allocator) {
        this.allocator = allocator;
        this.buffer = allocator.getEmpty();
    }

    /** Has room for so many bytes; what it had is gone. */
    void reserve(int bytes) {
        if (buffer.capacity() < (long) bytes + SLACK_BYTES) {
            buffer.close();
            buffer = allocator.getEmpty();
            buffer = allocator.buffer((long) bytes + SLACK_BYTES);
        }
    }

    long address() {
        return buffer.memoryAddress();
    }

    /** Its first bytes, which are valid until there is room for more. */
    ByteBuffer bytes(int from, int length) {
        return buffer.nioBuffer(from, length);
    }

    @Override
    public void close() {
        buffer.close();
        buffer = allocator.getEmpty();
    }
}
