package dev.millrace.server.history;

import dev.millrace.storage.disk.FileImage;
import java.util.List;

/** All histories as they were on disk at a moment, by files below {@code changes}; they can be read until this is closed. Any thread. */
public final class HistoriesImage implements AutoCloseable {
    private final List<FileImage> files;
    private final Runnable release;

    HistoriesImage(List<FileImage> files, Runnable release) {
        this.files = List.copyOf(files);
        this.release = release;
    }

    public List<FileImage> files() {
        return files;
    }

    /** Once. */
    @Override
    public void close() {
        release.run();
    }
}
