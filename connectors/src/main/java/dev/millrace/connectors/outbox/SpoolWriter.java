package dev.millrace.connectors.outbox;

import dev.millrace.connectors.input.FileErrors;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A file of records that is being written. Owned by one thread. */
final class SpoolWriter implements AutoCloseable {
    private static final int BUFFER_BYTES = 256 << 10;

    private final Path file;
    private final long number;
    private final SpoolRoom room;
    private final FileChannel channel;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
    private long bytes = SpoolFormat.HEADER_BYTES;
    private long records;

    /** Makes the file, or makes it anew. @param room waited for where the disk has none */
    SpoolWriter(Path directory, long number, SpoolRoom room) {
        this.file = directory.resolve(SpoolFormat.name(number));
        this.number = number;
        this.room = room;
        this.channel = open(file, room);
        SpoolFormat.putHeader(buffer, number);
    }

    private static FileChannel open(Path file, SpoolRoom room) {
        while (true) {
            try {
                return FileChannel.open(
                        file,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.TRUNCATE_EXISTING);
            } catch (IOException e) {
                MillraceException full = FileErrors.writing(file, e);
                if (full.sqlState() != SqlState.DISK_FULL) {
                    throw FileErrors.opening(file, "for writing", e);
                }
                room.awaitAfter(full);
            }
        }
    }

    void add(byte[] record, int offset, int length) {
        if (length > SpoolFormat.MOST_RECORD_BYTES) {
            throw new IllegalArgumentException("a record of " + length + " bytes");
        }
        if (buffer.remaining() < SpoolFormat.RECORD_HEAD_BYTES) {
            flush();
        }
        buffer.putInt(length).putInt(SpoolFormat.checksum(record, offset, length));
        if (length <= buffer.remaining()) {
            buffer.put(record, offset, length);
        } else {
            flush();
            if (length <= buffer.remaining()) {
                buffer.put(record, offset, length);
            } else {
                write(ByteBuffer.wrap(record, offset, length));
            }
        }
        bytes += SpoolFormat.RECORD_HEAD_BYTES + length;
        records++;
    }

    long bytes() {
        return bytes;
    }

    private void flush() {
        write(buffer.flip());
        buffer.clear();
    }

    private void write(ByteBuffer from) {
        while (from.hasRemaining()) {
            try {
                room.write(channel, from);
            } catch (IOException e) {
                room.awaitAfter(FileErrors.writing(file, e)); // what is written is, and the rest goes behind it
            }
        }
        room.found();
    }

    /** Has the disk keep all of it, and ends it. Its name is kept when the directory is. */
    SpoolEntry end(long checkpoint) {
        flush();
        try {
            channel.force(true);
        } catch (IOException e) {
            throw FileErrors.writing(file, e);
        }
        close();
        return new SpoolEntry(number, checkpoint, bytes, records);
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw FileErrors.writing(file, e);
        }
    }
}
