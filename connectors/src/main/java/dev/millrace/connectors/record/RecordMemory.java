package dev.millrace.connectors.record;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.EncodedRecords;
import dev.millrace.memory.Memory;
import java.nio.ByteBuffer;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.jspecify.annotations.Nullable;

/** Records one behind the other, keys before values, in memory that is used again. Owned by one thread. */
public final class RecordMemory implements AutoCloseable {
    private static final int FIRST_BYTES = 64 << 10;
    private static final int MOST_BYTES = 1 << 30;

    private final BufferAllocator allocator;
    private final EncodedRecords records = new EncodedRecords();
    private ArrowBuf memory;
    private int bytes;
    private boolean closed;

    public RecordMemory(BufferAllocator allocator) {
        this.allocator = allocator;
        this.memory = allocator.buffer(FIRST_BYTES);
    }

    /** What it has, to be decoded. */
    public EncodedRecords records() {
        return records;
    }

    /** How many there are of all records. */
    public int bytes() {
        return bytes;
    }

    /** Forgets all records. */
    public void clear() {
        bytes = 0;
        records.clear();
    }

    /** Copies a record; what is null is none. */
    public void add(@Nullable ByteBuffer key, @Nullable ByteBuffer value, long position) {
        int keyFrom = key == null ? -1 : append(key);
        int keyTo = bytes;
        int from = value == null ? -1 : append(value);
        records.add(from, bytes, keyFrom, key == null ? -1 : keyTo, position);
    }

    private int append(ByteBuffer from) {
        int length = from.remaining();
        if (length > MOST_BYTES - bytes) {
            throw MillraceException.resources(
                    SqlState.PROGRAM_LIMIT_EXCEEDED, "records of more than " + MOST_BYTES + " bytes at once");
        }
        reserve(bytes + length);
        int start = bytes;
        if (from.hasArray()) {
            Memory.copyIn(from.array(), from.arrayOffset() + from.position(), memory.memoryAddress() + start, length);
        } else {
            byte[] copy = new byte[length];
            from.duplicate().get(copy);
            Memory.copyIn(copy, 0, memory.memoryAddress() + start, length);
        }
        bytes += length;
        return start;
    }

    private void reserve(int wanted) {
        if (wanted + EncodedRecords.SLACK_BYTES > memory.capacity()) {
            ArrowBuf larger = allocator.buffer(Math.max(2 * memory.capacity(), wanted + EncodedRecords.SLACK_BYTES));
            Memory.copy(memory.memoryAddress(), larger.memoryAddress(), bytes);
            memory.close();
            memory = larger;
        }
    }

    /** All that is to be decoded together is there. */
    public void finish() {
        reserve(bytes);
        Memory.putLong(memory.memoryAddress() + bytes, 0);
        records.place(memory.memoryAddress(), bytes);
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            memory.close();
        }
    }
}
