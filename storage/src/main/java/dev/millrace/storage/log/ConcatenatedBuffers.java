package dev.millrace.storage.log;

import java.nio.ByteBuffer;

/** Copies out of several buffers as if they were one, and leaves them as they are. For one thread. */
final class ConcatenatedBuffers {
    private final ByteBuffer[] parts;
    private int part;

    ConcatenatedBuffers(ByteBuffer[] parts) {
        this.parts = new ByteBuffer[parts.length];
        for (int i = 0; i < parts.length; i++) {
            this.parts[i] = parts[i].duplicate();
        }
    }

    /** The next bytes, as many as are asked for. */
    byte[] next(int length) {
        byte[] copy = new byte[length];
        for (int from = 0; from < length; ) {
            int count = Math.min(length - from, parts[part].remaining());
            parts[part].get(copy, from, count);
            from += count;
            part += parts[part].hasRemaining() ? 0 : 1;
        }
        return copy;
    }
}
