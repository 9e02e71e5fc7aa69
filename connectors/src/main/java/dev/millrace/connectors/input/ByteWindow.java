package dev.millrace.connectors.input;

import dev.millrace.memory.Memory;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A stretch of a file in memory: what was read and not yet consumed. Eight bytes behind it may be read, so that scans can
 * go by words. Owned by one thread.
 *
 * <pre>
 *   address() + start()          address() + end()
 *        |  not yet consumed  ...  |   8 readable bytes
 * </pre>
 */
public final class ByteWindow implements AutoCloseable {
    /** Bytes readable behind the end. */
    public static final int SLACK_BYTES = 8;

    private final BufferAllocator allocator;
    private ArrowBuf memory;
    private int capacity;
    private int start;
    private int end;
    private boolean dry;
    private boolean closed;

    public ByteWindow(BufferAllocator allocator, int initialBytes) {
        this.allocator = allocator;
        this.memory = allocator.buffer(initialBytes + SLACK_BYTES);
        this.capacity = (int) (memory.capacity() - SLACK_BYTES);
    }

    public long address() {
        return memory.memoryAddress();
    }

    public int start() {
        return start;
    }

    public int end() {
        return end;
    }

    public int length() {
        return end - start;
    }

    /** Everything before {@code position} is done with. */
    public void consumeTo(int position) {
        assert position >= start && position <= end;
        start = position;
    }

    /** Whether the last fill met the end of what the file has now. */
    public boolean isDry() {
        return dry;
    }

    /** Forgets everything, for another file. */
    public void clear() {
        start = 0;
        end = 0;
        dry = false;
    }

    /** How many bytes it was in a file of an encoding. */
    long bytesIn(Encoding encoding) {
        if (encoding == Encoding.UTF_8) {
            return length();
        }
        long count = 0;
        for (int at = start; at < end; at++) {
            count += encoding.bytesOf(Memory.getByte(memory.memoryAddress() + at));
        }
        return count;
    }

    /**
     * Reads until {@code bytes} are here or the input has no more; what was here moves to the front.
     *
     * @throws dev.millrace.error.MillraceException when reading fails; what was read before that is here
     */
    public void fill(FileInput input, int bytes) {
        dry = false;
        if (length() >= bytes) {
            return;
        }
        moveToFront(bytes);
        try {
            while (end < bytes) {
                int read = input.read(memory.memoryAddress() + end, capacity - end);
                if (read < 0) {
                    dry = true;
                    break;
                }
                end += read;
            }
        } finally {
            Memory.putLong(memory.memoryAddress() + end, 0);
        }
    }

    private void moveToFront(int bytes) {
        int kept = length();
        if (bytes + FileInput.LEAST_ROOM > capacity) {
            ArrowBuf larger = allocator.buffer(bytes + (long) FileInput.LEAST_ROOM + SLACK_BYTES);
            Memory.copy(memory.memoryAddress() + start, larger.memoryAddress(), kept);
            memory.close();
            memory = larger;
            capacity = (int) (larger.capacity() - SLACK_BYTES);
        } else if (start > 0) {
            Memory.copy(memory.memoryAddress() + start, memory.memoryAddress(), kept);
        }
        start = 0;
        end = kept;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            memory.close();
        }
    }
}
