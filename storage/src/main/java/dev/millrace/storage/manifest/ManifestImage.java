package dev.millrace.storage.manifest;

import dev.millrace.storage.disk.FileImage;
import java.util.List;
import java.util.function.Consumer;

/** A checkpoint as files that make it in another directory; they can be read until this is closed. Any thread. */
public final class ManifestImage implements AutoCloseable {
    private final Checkpoint checkpoint;
    private final List<FileImage> files;
    private final Consumer<Checkpoint> release;
    private boolean closed;

    ManifestImage(Checkpoint checkpoint, List<FileImage> files, Consumer<Checkpoint> release) {
        this.checkpoint = checkpoint;
        this.files = List.copyOf(files);
        this.release = release;
    }

    public List<FileImage> files() {
        return files;
    }

    /** Closing again does nothing. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            release.accept(checkpoint);
        }
    }
}
