package dev.millrace.engine.view;

import dev.millrace.memory.Memory;
import java.util.Arrays;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Copies of the rows that a lookup found, as often as each is there; or, for who pinned the version, where the rows are, each once. For
 * one thread at a time.
 */
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
    private boolean inPlace;

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
        inPlace = false;
    }

    /** Forgets all, and takes the places of rows that are seen at a version, which stay as long as it is pinned. */
    void beginInPlace(long newVersion) {
        begin(newVersion, Integer.MAX_VALUE);
        inPlace = true;
    }

    /** Where a row is that was taken in place. */
    long place(int i) {
        return offsets[i];
    }

    /** Takes a row if it is seen; false if it is one more than are taken. */
    boolean add(long row) {
        if (!RowVersions.isSeenAt(row, version)) {
            return true;
        }
        if (inPlace) {
            if (count == offsets.length) {
                offsets = Arrays.copyOf(offsets, 2 * count);
            }
            offsets[count++] = row;
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
