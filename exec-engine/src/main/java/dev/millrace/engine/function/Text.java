package dev.millrace.engine.function;

import dev.millrace.text.TextBuffer;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The result of a text or bytea function: a slice of an argument, or bytes in a buffer of its own that the next call
 * overwrites. Each call in generated code has one.
 */
public final class Text implements AutoCloseable {
    private static final int INITIAL_BYTES = 64;

    /** Where the result is. */
    public long address;

    /** Its bytes. */
    public int length;

    private final TextBuffer buffer;

    public Text(BufferAllocator allocator) {
        this.buffer = new TextBuffer(allocator, INITIAL_BYTES);
    }

    /** The result is these bytes, which stay where they are. */
    public void slice(long newAddress, int newLength) {
        address = newAddress;
        length = newLength;
    }

    /** The result is of no bytes. */
    public void empty() {
        slice(buffer.address(), 0);
    }

    /** Begins a result of its own bytes; {@link #written} ends it. */
    public TextBuffer begin() {
        buffer.clear();
        return buffer;
    }

    /** The result is what was written since {@link #begin}. */
    public void written() {
        slice(buffer.address(), Math.toIntExact(buffer.length()));
    }

    @Override
    public void close() {
        buffer.close();
    }
}
