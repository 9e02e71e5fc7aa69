package dev.millrace.engine.match;

import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.checkpoint.SectionOutput;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Rows of a {@link dev.millrace.engine.state.RowCodec}, each by itself until it is linked into the list of its partition.
 *
 * <pre>
 *   next | word of the owner's | length, 4 bytes | padding | bytes of the row, which its address means
 * </pre>
 */
final class StoredRows implements AutoCloseable {
    private static final int NEXT = -24;
    private static final int WORD = -16;
    private static final int LENGTH = -8;
    private static final int HEADER = 24;

    private final StateMemory memory;
    private int size;

    StoredRows(BufferAllocator allocator) {
        this.memory = new StateMemory(allocator);
    }

    int size() {
        return size;
    }

    long bytes() {
        return memory.bytes();
    }

    /** A copy of a row, its word 0. */
    long store(long row, int length) {
        long stored = allocate(length);
        Memory.copy(row, stored, length);
        return stored;
    }

    private long allocate(int length) {
        long stored = memory.allocate(HEADER + length) + HEADER;
        Memory.putLong(stored + NEXT, 0);
        Memory.putLong(stored + WORD, 0);
        Memory.putInt(stored + LENGTH, length);
        size++;
        return stored;
    }

    void free(long row) {
        memory.free(row - HEADER, HEADER + Memory.getInt(row + LENGTH));
        size--;
    }

    static int length(long row) {
        return Memory.getInt(row + LENGTH);
    }

    static long word(long row) {
        return Memory.getLong(row + WORD);
    }

    static void setWord(long row, long word) {
        Memory.putLong(row + WORD, word);
    }

    /** The row linked behind, or 0. */
    static long next(long row) {
        return Memory.getLong(row + NEXT);
    }

    static void link(long row, long next) {
        Memory.putLong(row + NEXT, next);
    }

    static boolean equal(long a, long b) {
        return length(a) == length(b) && Memory.equal(a, b, length(a));
    }

    static void write(long row, DataOutput out) throws IOException {
        out.writeLong(word(row));
        SectionOutput.writeBytes(row, length(row), out);
    }

    long read(DataInput in) throws IOException {
        long word = in.readLong();
        int length = SectionInput.readLength(in);
        long row = allocate(length);
        SectionInput.readBytes(in, row, length);
        setWord(row, word);
        return row;
    }

    @Override
    public void close() {
        size = 0;
        memory.close();
    }
}
