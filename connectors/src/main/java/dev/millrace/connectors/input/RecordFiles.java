package dev.millrace.connectors.input;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Reads files of records, or parts of files, one after another through a {@link ByteWindow} that is as large as a batch or a record needs;
 * what the records are {@link Records} knows. With {@code follow} the last file is read on as it grows.
 *
 * <pre>
 *   open -> [ fill the window -> read a batch, or else enlarge the window, give a record up, wait for more ]* -> open the next
 * </pre>
 *
 * Owned by one thread.
 */
public final class RecordFiles implements AutoCloseable {
    private static final long FOLLOW_RETRY_MICROS = 50_000;

    private final Records records;
    private final int maxRecordBytes;
    private final boolean follow;
    private final long totalBytes;
    private final ByteWindow window;
    private Optional<Opened> opened = Optional.empty();
    private Optional<MillraceException> failure = Optional.empty();
    private int windowBytes;
    private boolean idle;
    private boolean finished;
    private long doneBytes;

    /** What makes batches of the bytes. */
    public interface Records {
        /** Opens the next file, or part of one, of which nothing is read yet; empty after the last. */
        Optional<Opened> open();

        /**
         * Makes a batch, of none or more rows, of whole records at the window's start, and consumes these; empty if there is none,
         * and with nothing consumed if that is for want of more bytes.
         *
         * @param atEnd whether the window ends where the file does, which no line end has to precede
         */
        Optional<Batch> read(boolean atEnd);

        /** The record at the window's start is longer than records may be: {@link #read} goes on behind it, and says so. */
        void giveUp();

        /** The line of the file that is next to be read, from 1. */
        long line();
    }

    /**
     * A file that is being read.
     *
     * @param from where in it reading begins, bytes
     * @param bytes that are read of it, as they are on the disk
     */
    public record Opened(FileInput input, long from, long bytes) {}

    /**
     * @param totalBytes of all that is read, as it is on the disk
     * @param firstBytes how large the window is at first
     * @param follow whether to wait for more at the end of the (only) file instead of finishing
     */
    public RecordFiles(
            Records records,
            long totalBytes,
            int firstBytes,
            int maxRecordBytes,
            boolean follow,
            BufferAllocator allocator) {
        this.records = records;
        this.totalBytes = totalBytes;
        this.windowBytes = firstBytes;
        this.maxRecordBytes = maxRecordBytes;
        this.follow = follow;
        this.window = new ByteWindow(allocator, firstBytes);
    }

    public ByteWindow window() {
        return window;
    }

    /** The file that is being read. */
    public FileInput input() {
        return opened.orElseThrow().input;
    }

    /** Whether a file is being read; else the next is to be opened, if there is one. */
    public boolean isOpen() {
        return opened.isPresent();
    }

    /** Which byte of the file the window's start is, as {@link FileInput} counts them. */
    public long offset() {
        return input().offset() - window.bytesIn(input().encoding());
    }

    /** How many bytes the window is filled with. */
    public int windowBytes() {
        return windowBytes;
    }

    public void setWindowBytes(int bytes) {
        windowBytes = bytes;
    }

    /**
     * The next batch, of none or more rows; empty at the end, or if there is nothing more for now.
     *
     * @throws MillraceException if a file cannot be read, after all batches of what was read before
     */
    public Optional<Batch> poll() {
        idle = false;
        while (!finished) {
            if (opened.isEmpty() && !openNext()) {
                finished = true;
                break;
            }
            if (!input().skipSome()) {
                return Optional.empty(); // to come back at once
            }
            fill();
            boolean atEnd = window.isDry() && !follow && failure.isEmpty();
            int before = window.start();
            Optional<Batch> batch = records.read(atEnd);
            if (batch.isPresent()) {
                return batch;
            }
            if (window.start() == before && isStuck()) {
                return Optional.empty();
            }
        }
        return Optional.empty();
    }

    private boolean openNext() {
        opened = records.open();
        window.clear();
        return opened.isPresent();
    }

    private void fill() {
        if (failure.isEmpty()) {
            try {
                window.fill(input(), windowBytes);
            } catch (MillraceException e) {
                failure = Optional.of(e); // what was read before it comes first
            }
        }
    }

    /** Nothing whole is in the window: makes it larger, gives a record up, or ends the file. True to come back later. */
    private boolean isStuck() {
        if (failure.isPresent()) {
            finished = true;
            throw failure.get().withHint("the rows before line " + records.line() + " were read");
        }
        if (!window.isDry()) {
            if (window.length() >= maxRecordBytes) {
                records.giveUp();
            } else if (window.length() >= windowBytes) {
                windowBytes = Math.min(2 * windowBytes, maxRecordBytes + 1);
            }
            return false;
        }
        if (follow) {
            idle = true;
            return true;
        }
        doneBytes += opened.orElseThrow().bytes;
        closeInput();
        return false;
    }

    public boolean isFinished() {
        return finished;
    }

    /** As {@link dev.millrace.connector.SourceReader#retryAfterMicros}. */
    public long retryAfterMicros() {
        return idle ? FOLLOW_RETRY_MICROS : 0;
    }

    /** As {@link dev.millrace.connector.SourceReader#progress}. */
    public double progress() {
        if (follow || totalBytes == 0) {
            return finished ? 1 : -1;
        }
        long position = opened.map(file -> Math.max(0, Math.min(file.bytes, file.input.packedPosition() - file.from)))
                .orElse(0L);
        return finished ? 1 : Math.min(1, (doneBytes + position) / (double) totalBytes);
    }

    private void closeInput() {
        opened.map(Opened::input).ifPresent(FileInput::close);
        opened = Optional.empty();
    }

    @Override
    public void close() {
        finished = true;
        closeInput();
        window.close();
    }
}
