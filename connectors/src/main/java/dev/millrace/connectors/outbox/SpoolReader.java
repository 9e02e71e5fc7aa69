package dev.millrace.connectors.outbox;

import dev.millrace.connectors.input.FileErrors;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Consumer;

/** Reads a file of records, and looks at all its checksums. Owned by one thread. */
final class SpoolReader implements AutoCloseable {
    private static final int BUFFER_BYTES = 256 << 10;

    private final Path file;
    private final FileChannel channel;
    private final long end;
    private ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES).limit(0);
    private long at; // in the file, of the buffer's position
    private boolean endsWithin; // a record

    /** @param end behind which there may be anything */
    SpoolReader(Path file, long number, long end) {
        this.file = file;
        this.end = end;
        try {
            channel = FileChannel.open(file, StandardOpenOption.READ);
        } catch (IOException e) {
            throw FileErrors.opening(file, "for reading", e);
        }
        try {
            need(SpoolFormat.HEADER_BYTES);
            SpoolFormat.requireHeader(buffer, file, number);
            at = SpoolFormat.HEADER_BYTES;
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Gives each record; returns how many there were. */
    long forEach(Consumer<ByteBuffer> to) {
        long records = 0;
        while (at < end) {
            endsWithin = end - at < SpoolFormat.RECORD_HEAD_BYTES;
            need(SpoolFormat.RECORD_HEAD_BYTES);
            int length = buffer.getInt();
            int checksum = buffer.getInt();
            if (length < 0 || length > end - at - SpoolFormat.RECORD_HEAD_BYTES) {
                endsWithin = length >= 0 && length <= SpoolFormat.MOST_RECORD_BYTES;
                throw SpoolFormat.damaged(file, at, "has a record of " + length + " bytes, up to byte " + end);
            }
            need(length);
            int from = buffer.position();
            if (SpoolFormat.checksum(buffer.array(), from, length) != checksum) {
                throw SpoolFormat.damaged(file, at, "has a record whose checksum is another");
            }
            to.accept(buffer.slice(from, length));
            buffer.position(from + length);
            at += SpoolFormat.RECORD_HEAD_BYTES + length;
            records++;
        }
        return records;
    }

    /** After it failed: whether by a record that would end behind the file. */
    boolean endsWithin() {
        return endsWithin;
    }

    /** Has so many bytes in the buffer. */
    private void need(int bytes) {
        if (buffer.remaining() >= bytes) {
            return;
        }
        if (bytes > buffer.capacity()) {
            buffer = ByteBuffer.allocate(bytes).put(buffer).flip();
        }
        buffer.compact();
        try {
            while (buffer.position() < bytes) {
                if (channel.read(buffer) < 0) {
                    throw SpoolFormat.damaged(file, channel.position(), "ends, and should at " + end);
                }
            }
        } catch (IOException e) {
            throw FileErrors.opening(file, "for reading", e);
        }
        buffer.flip();
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw FileErrors.opening(file, "for reading", e);
        }
    }
}
