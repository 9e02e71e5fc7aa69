package dev.millrace.engine.view;

import dev.millrace.batch.Memory;
import java.util.Arrays;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/** Copies of the rows that a lookup found, as often as each is there. For one thread at a time. */
final class FoundRows implements AutoCloseable {
    private static final int FIRST_BYTES = 4096;

    private final BufferAllocator allocator;
    private ArrowBuf buffer;
    private long used;
    private long[] offsets = new long[16];
    private int count;
    private int most;
    private boolean tooMany;
    private long version;

    FoundRows(BufferAllocator allocator) {
        this.allocator = allocator;
        this.buffer = allocator.buffer(FIRST_BYTES);
    }

    /** Forgets all, and takes rows that are seen at a version. */
    void begin(long newVersion, int newMost) {
        used = 0;
        count = 0;
        tooMany = false;
        version = newVersion;
        most = newMost;
    }

    /** Takes a row if it is seen; false if it is one more than are taken. */
    boolean add(long row) {
        if (!RowVersions.isSeenAt(row, version)) {
            return true;
        }
        int length = RowVersions.length(row);
        if (used + length > buffer.capacity()) {
            ArrowBuf larger = allocator.buffer(2 * (used + length));
            Memory.copy(buffer.memoryAddress(), larger.memoryAddress(), used);
            buffer.close();
            buffer = larger;
        }
        for (long copies = RowVersions.weight(row); copies > 0; copies--) {
            if (count == most) {
                tooMany = true;
                return false;
            }
            if (count == offsets.length) {
                offsets = Arrays.copyOf(offsets, 2 * count);
            }
            offsets[count++] = used;
        }
        Memory.copy(row, buffer.memoryAddress() + used, length);
        used += length;
        return true;
    }

    boolean tooMany() {
        return tooMany;
    }

    int count() {
        return count;
    }

    /** Where the rows are, until the next is taken. */
    long[] addresses() {
        long[] addresses = new long[count];
        for (int i = 0; i < count; i++) {
            addresses[i] = buffer.memoryAddress() + offsets[i];
        }
        return addresses;
    }

    @Override
    public void close() {
        buffer.close();
    }
}
