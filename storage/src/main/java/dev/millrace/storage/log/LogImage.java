package dev.millrace.storage.log;

import dev.millrace.storage.disk.FileImage;
import java.util.List;

/**
 * A log as it was at a moment, closed behind a record: files that make that log in another directory. They can be read until this is closed,
 * whatever is appended and forgotten meanwhile. For one thread at a time; close it before the log.
 */
public final class LogImage implements AutoCloseable {
    private final LogDirectory directory;
    private final long first;
    private final long last;
    private final List<FileImage> files;
    private boolean closed;

    /** @param first number of its first segment, which is held */
    LogImage(LogDirectory directory, long first, long last, List<FileImage> files) {
        this.directory = directory;
        this.first = first;
        this.last = last;
        this.files = List.copyOf(files);
    }

    /** Number of the last record that is in it; that of the last one that was forgotten if there is none. */
    public long last() {
        return last;
    }

    public List<FileImage> files() {
        return files;
    }

    /** Closing again does nothing. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            directory.release(first);
        }
    }
}
