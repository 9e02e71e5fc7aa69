package dev.millrace.expressions.function;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import java.nio.charset.StandardCharsets;
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

    private static final int CHECKED_BYTES = 1 << 18; // some tens of microseconds to write or to read

    private final TextBuffer buffer;
    private int unchecked; // bytes since it was looked whether anybody wants them

    public Text(BufferAllocator allocator) {
        this.buffer = new TextBuffer(allocator, INITIAL_BYTES);
    }

    /** The result is these bytes, which stay where they are. */
    public void slice(long newAddress, int newLength) {
        address = newAddress;
        length = newLength;
        unchecked += newLength;
        if (unchecked < 0 || unchecked >= CHECKED_BYTES) { // a batch of long texts takes seconds
            unchecked = 0;
            Interrupt.checkCurrent();
        }
    }

    /** The result is of no bytes. */
    public void empty() {
        slice(buffer.address(), 0);
    }

    /** The text of UTF-8 bytes. */
    static String read(long address, int length) {
        byte[] bytes = new byte[length];
        Memory.copyOut(address, bytes, 0, length);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** The result is this text, in UTF-8. */
    void write(String text) {
        begin().append(text.getBytes(StandardCharsets.UTF_8));
        written();
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
