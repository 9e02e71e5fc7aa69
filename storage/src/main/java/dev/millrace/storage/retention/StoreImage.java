package dev.millrace.storage.retention;

import dev.millrace.storage.disk.FileImage;
import dev.millrace.storage.segment.ColumnSegment;
import java.util.List;
import java.util.function.BiConsumer;

/** What a store had on disk at a moment, as files that make it in another directory; they can be read until this is closed. Any thread. */
public final class StoreImage implements AutoCloseable {
    private final SegmentStore store;
    private final List<KeptSegment> segments;
    private final List<FileImage> files;
    private boolean closed;

    StoreImage(SegmentStore store, List<KeptSegment> segments, List<FileImage> files) {
        this.store = store;
        this.segments = List.copyOf(segments);
        this.files = List.copyOf(files);
    }

    public List<FileImage> files() {
        return files;
    }

    /**
     * Opens segments, one after the other, from the newest back, until they have so many bytes together; at least one.
     *
     * @param to is given each, which is closed when it returns
     * @throws dev.millrace.error.MillraceException XX001 or 58030 where one cannot be opened
     */
    public void forNewest(long mostBytes, BiConsumer<KeptSegment, ColumnSegment> to) {
        long left = mostBytes;
        for (int i = segments.size() - 1; i >= 0 && left > 0; i--) {
            KeptSegment segment = segments.get(i);
            left -= segment.file().bytes();
            try (ColumnSegment file = store.open(segment)) {
                to.accept(segment, file);
            }
        }
    }

    /** Closing again does nothing. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            segments.forEach(store::unpin);
        }
    }
}
