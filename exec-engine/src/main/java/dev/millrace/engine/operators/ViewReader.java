package dev.millrace.engine.operators;

import dev.millrace.batch.Batch;
import dev.millrace.connector.SourceReader;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.engine.view.ViewScan;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** Reads the rows of a view as of the version at which its scan was opened, as they are asked for. */
public final class ViewReader implements SourceReader {
    private final VersionedView view;
    private final ViewScan scan;
    private final BufferAllocator allocator;
    private long rows;

    /** @param scan taken over */
    public ViewReader(VersionedView view, ViewScan scan, BufferAllocator allocator) {
        this.view = view;
        this.scan = scan;
        this.allocator = allocator;
    }

    @Override
    public Optional<Batch> poll() {
        Optional<Batch> next = scan.next(allocator);
        next.ifPresent(batch -> rows += batch.rowCount());
        return next;
    }

    @Override
    public boolean isFinished() {
        return scan.isEnded();
    }

    @Override
    public long retryAfterMicros() {
        return 0;
    }

    @Override
    public double progress() {
        return scan.isEnded() ? 1 : Math.min(1, (double) rows / Math.max(1, view.rowCount()));
    }

    @Override
    public void close() {
        scan.close();
    }
}
