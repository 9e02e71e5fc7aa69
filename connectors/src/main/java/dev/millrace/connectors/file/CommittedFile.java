package dev.millrace.connectors.file;

import dev.millrace.connectors.input.FileErrors;
import dev.millrace.memory.Memory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * A file that only ever keeps whole commits: what was written since the last one is cut off when it is closed, or when it is opened after
 * a crash. A file that cannot be cut (a pipe, a device) keeps what it was given; a pipe is opened when there is something to write, as
 * that waits until somebody reads it. Used by one thread at a time.
 */
final class CommittedFile implements AutoCloseable {
    private static final int CHUNK_BYTES = 64 << 10;

    private final Path path;
    private Optional<FileChannel> file = Optional.empty(); // of a pipe only once it is written to
    private final boolean regular;
    private final Optional<CommittedLength> length;
    private final byte[] chunk = new byte[CHUNK_BYTES];
    private long committed;
    private boolean dirty;
    private boolean closed;

    /**
     * @param append whether a sink that is new keeps what a file has that exists
     * @param length of the sink's own; empty where nothing of it outlives the process
     */
    CommittedFile(Path path, boolean append, Optional<CommittedLength> length) {
        this.path = path;
        this.length = length;
        this.regular = !Files.exists(path) || Files.isRegularFile(path);
        if (!regular && PipeOpening.isPipe(path)) {
            return;
        }
        FileChannel opened = open(path, regular);
        this.file = Optional.of(opened);
        try {
            if (regular) {
                long size = opened.size();
                long ofNew = append ? size : 0;
                committed = length.map(own -> own.begins(size, ofNew)).orElse(ofNew);
                opened.truncate(committed);
                opened.position(committed);
                length.ifPresent(own -> own.keep(committed));
            }
        } catch (IOException e) {
            close();
            throw FileErrors.opening(path, "for writing", e);
        }
    }

    /** Opens for writing, making the file if it can be one. */
    static FileChannel open(Path path, boolean regular) {
        if (Files.isDirectory(path)) {
            throw FileErrors.isDirectory(path);
        }
        try {
            return regular
                    ? FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)
                    : FileChannel.open(path, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw FileErrors.opening(path, "for writing", e);
        }
    }

    boolean isEmpty() {
        return committed == 0;
    }

    /** Writes bytes of raw memory behind what was written. */
    void write(long address, long length) {
        if (length > 0 && file.isEmpty()) {
            file = Optional.of(PipeOpening.open(path)); // waits until somebody reads it
        }
        dirty = true;
        try {
            for (long done = 0; done < length; ) {
                int part = (int) Math.min(CHUNK_BYTES, length - done);
                Memory.copyOut(address + done, chunk, 0, part);
                ByteBuffer bytes = ByteBuffer.wrap(chunk, 0, part);
                while (bytes.hasRemaining()) {
                    file.get().write(bytes);
                }
                done += part;
            }
        } catch (IOException e) {
            throw FileErrors.writing(path, e);
        }
    }

    /** Keeps what was written. */
    void commit() {
        try {
            if (regular) {
                committed = file.get().position();
                length.ifPresent(own -> own.keep(committed));
            }
            dirty = false;
        } catch (IOException e) {
            throw FileErrors.writing(path, e);
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (file.isEmpty()) {
            return;
        }
        try (FileChannel open = file.get()) {
            if (regular && dirty) {
                open.truncate(committed);
            }
        } catch (IOException e) {
            throw FileErrors.writing(path, e);
        }
    }
}
