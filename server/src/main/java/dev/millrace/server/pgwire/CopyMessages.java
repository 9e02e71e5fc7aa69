package dev.millrace.server.pgwire;

import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeStyle;
import org.apache.arrow.memory.BufferAllocator;

/** CopyData messages under way to the client, one per row, as PostgreSQL cuts them and some clients rely on. */
final class CopyMessages implements AutoCloseable {
    private static final int ROOM = 16 << 10;
    private static final int ENOUGH = 8 << 10;
    private static final int LENGTH_BYTES = 4;

    private final Outgoing out;
    private final TextBuffer text;
    private long start;
    private boolean open;

    CopyMessages(Outgoing out, BufferAllocator allocator) {
        this.out = out;
        this.text = new TextBuffer(allocator, ROOM);
    }

    /** Has dates and times written in a style. */
    void inStyle(TimeStyle style) {
        text.inStyle(style);
    }

    /** Where the message under way is written; begins one if there is none. */
    TextBuffer open() {
        if (!open) {
            open = true;
            text.append('d');
            start = text.length();
            text.end(text.room(LENGTH_BYTES) + LENGTH_BYTES);
        }
        return text;
    }

    /** Ends the message under way, if there is one with something in it. */
    void end() {
        if (!open) {
            return;
        }
        open = false;
        int length = (int) (text.length() - start);
        if (length == LENGTH_BYTES) {
            text.truncate(start - 1);
            return;
        }
        Memory.putInt(text.address() + start, Integer.reverseBytes(length));
        if (text.length() >= ENOUGH) {
            out.add(text);
        }
    }

    /** Sends all messages that ended; the client sees them before anyone waits. */
    void flush() {
        if (!open) {
            out.add(text);
            out.flush();
        }
    }

    /** Ends the last message and hands all over to be sent. */
    void finish() {
        end();
        out.add(text);
    }

    @Override
    public void close() {
        text.close();
    }
}
