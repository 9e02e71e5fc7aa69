package dev.millrace.text;

import dev.millrace.memory.Memory;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Optional;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.jspecify.annotations.Nullable;

/**
 * Raw bytes that grow at their end: where values are written as text. It owns its memory; {@link #close} gives it back.
 * Not thread-safe.
 *
 * <p>Whoever writes several bytes asks for room once, then writes by address:
 *
 * <pre>
 *   long at = buffer.room(20);
 *   Memory.putByte(at++, ...);
 *   buffer.end(at);
 * </pre>
 */
public final class TextBuffer implements AutoCloseable {
    private final BufferAllocator allocator;
    private @Nullable ArrowBuf memory; // null once closed
    private long start;
    private long end;
    private long limit;
    private TimeStyle style = TimeStyle.PLAIN;
    private Optional<ZoneClock> clock = Optional.empty();

    /** A buffer that begins with room for {@code initialBytes}. */
    public TextBuffer(BufferAllocator allocator, long initialBytes) {
        this.allocator = allocator;
        ArrowBuf first = allocator.buffer(Math.max(64, initialBytes));
        this.memory = first;
        this.start = first.memoryAddress();
        this.end = start;
        this.limit = start + first.capacity();
    }

    /** Has dates, times and intervals written in a style, from now on. */
    public void inStyle(TimeStyle wanted) {
        if (!wanted.equals(style)) {
            style = wanted;
            clock = wanted.clock();
        }
    }

    TimeStyle style() {
        return style;
    }

    /** Of the style's time zone; empty for UTC. */
    Optional<ZoneClock> clock() {
        return clock;
    }

    /** Address of the first byte; changes when the buffer grows. */
    public long address() {
        return start;
    }

    /** Bytes written. */
    public long length() {
        return end - start;
    }

    /** Bytes for which it has room, those written included. */
    public long capacity() {
        return limit - start;
    }

    /** Makes it empty, keeping its memory. */
    public void clear() {
        end = start;
    }

    /** Cuts it to its first {@code length} bytes. */
    public void truncate(long length) {
        assert length <= length() : length + " of " + length();
        end = start + length;
    }

    /** Where the next byte goes, with room for at least {@code bytes}; {@link #end} then tells how many were written. */
    public long room(long bytes) {
        if (limit - end < bytes) {
            grow(bytes);
        }
        return end;
    }

    /** Everything before {@code address}, which lies in the room asked for, is now part of the text. */
    public void end(long address) {
        assert address >= end && address <= limit : "wrote past the room asked for";
        end = address;
    }

    public void append(byte value) {
        Memory.putByte(room(1), value);
        end++;
    }

    public void append(char ascii) {
        append((byte) ascii);
    }

    public void append(long address, int length) {
        Memory.copy(address, room(length), length);
        end += length;
    }

    public void append(byte[] bytes) {
        Memory.copyIn(bytes, 0, room(bytes.length), bytes.length);
        end += bytes.length;
    }

    /** Appends ASCII text, without allocating. */
    public void appendAscii(String text) {
        long at = room(text.length());
        for (int i = 0; i < text.length(); i++) {
            Memory.putByte(at + i, (byte) text.charAt(i));
        }
        end += text.length();
    }

    /** A copy of the bytes. */
    public byte[] toBytes() {
        byte[] bytes = new byte[Math.toIntExact(length())];
        Memory.copyOut(start, bytes, 0, bytes.length);
        return bytes;
    }

    @Override
    public String toString() {
        return new String(toBytes(), StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        if (memory != null) {
            memory.close();
            memory = null;
            start = 0;
            end = 0;
            limit = 0;
        }
    }

    private void grow(long bytes) {
        ArrowBuf old = Objects.requireNonNull(memory, "closed");
        long used = end - start;
        ArrowBuf larger = allocator.buffer(Math.max(2 * (limit - start), used + bytes));
        Memory.copy(start, larger.memoryAddress(), used);
        old.close();
        memory = larger;
        start = larger.memoryAddress();
        end = start + used;
        limit = start + larger.capacity();
    }
}
