package dev.millrace.edge.input;

import dev.millrace.format.EncodedRecords;
import dev.millrace.memory.Memory;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/** Lines in memory that is used again: no object for any of them. Owned by one thread. */
public final class LineMemory implements AutoCloseable {
    private static final int FIRST_BYTES = 64 << 10;

    private final BufferAllocator allocator;
    private final EncodedRecords records = new EncodedRecords();
    private ArrowBuf memory;
    private int bytes;
    private long position; // lines since it was made

    public LineMemory(BufferAllocator allocator) {
        this.allocator = allocator;
        this.memory = allocator.buffer(FIRST_BYTES);
    }

    /** Forgets all lines. */
    public void clear() {
        bytes = 0;
        records.clear();
    }

    public int bytes() {
        return bytes;
    }

    public int lines() {
        return records.count();
    }

    /** Adds the lines of a stretch of bytes; the last need have no end. Empty ones are none. */
    public void add(byte[] from, int begin, int end) {
        int length = end - begin;
        reserve(bytes + length);
        Memory.copyIn(from, begin, memory.memoryAddress() + bytes, length);
        int start = begin;
        for (int i = begin; i <= end; i++) {
            if (i == end || from[i] == '\n') {
                int stop = i > start && from[i - 1] == '\r' ? i - 1 : i;
                if (stop > start) {
                    records.add(bytes + start - begin, bytes + stop - begin, ++position);
                }
                start = i + 1;
            }
        }
        bytes += length;
    }

    private void reserve(int wanted) {
        if (wanted + EncodedRecords.SLACK_BYTES > memory.capacity()) {
            ArrowBuf larger = allocator.buffer(Math.max(2 * memory.capacity(), wanted + EncodedRecords.SLACK_BYTES));
            Memory.copy(memory.memoryAddress(), larger.memoryAddress(), bytes);
            memory.close();
            memory = larger;
        }
    }

    /** The lines, to be decoded. */
    public EncodedRecords finish() {
        reserve(bytes);
        Memory.putLong(memory.memoryAddress() + bytes, 0);
        records.place(memory.memoryAddress(), bytes);
        return records;
    }

    /** A line as text, for messages. */
    public String text(int line, int most) {
        int length = Math.min(most, records.to(line) - records.from(line));
        byte[] copy = new byte[length];
        Memory.copyOut(memory.memoryAddress() + records.from(line), copy, 0, length);
        return new String(copy, java.nio.charset.StandardCharsets.UTF_8).replaceAll("\\p{Cntrl}", "\ufffd");
    }

    @Override
    public void close() {
        memory.close();
    }
}
