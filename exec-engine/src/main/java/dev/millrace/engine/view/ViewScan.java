package dev.millrace.engine.view;

import dev.millrace.batch.Batch;
import dev.millrace.engine.checkpoint.SectionOutput;
import dev.millrace.engine.state.RowCodec;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Reads some columns of all rows of a {@link VersionedView} as of the version that was current when it was opened, a batch at
 * a time; what is written meanwhile neither waits nor is seen. For one thread at a time.
 */
public final class ViewScan implements AutoCloseable, RowCursor {
    private final VersionedView view;
    private final PinnedRows pinned;
    private final long[] rows;
    private boolean open; // guarded by the view's lock
    private long next; // the node to go on with, 0 at the end; guarded by the view's lock
    private volatile boolean ended; // written by who reads, read by who asks for progress
    private boolean closed;

    ViewScan(VersionedView view, List<Integer> columns, RowCodec codec, int batchRows, Pins.Pin pin) {
        this.view = view;
        this.pinned = new PinnedRows(view.schema(), columns, codec, pin);
        this.rows = new long[batchRows];
    }

    /** With the view's lock held, as what follows. */
    boolean isOpen() {
        return open;
    }

    @Override
    public void goOnAt(long node) {
        open = true;
        next = node;
    }

    @Override
    public void leaving(long node, long following) {
        if (next == node) {
            next = following;
        }
    }

    long next() {
        return next;
    }

    Pins.Pin pin() {
        return pinned.pin();
    }

    /**
     * The next rows, which the caller closes, in memory of its own; empty at the end. Weights only where a row occurs more than
     * once.
     *
     * @throws dev.millrace.error.MillraceException 72000 if the version had to be given up for the memory that it cost
     */
    public Optional<Batch> next(BufferAllocator target) {
        if (ended) {
            return Optional.empty();
        }
        Optional<Batch> batch = pinned.decode(rows, found -> view.collect(this, found), target);
        ended = batch.isEmpty();
        return batch;
    }

    /**
     * Writes all rows that follow, as they lie in memory, for {@link VersionedView#restore}: of each its weight, 8 bytes, its length, 4
     * bytes, and as many bytes; last a length of -1.
     *
     * @param sometimes called between some rows
     * @throws dev.millrace.error.MillraceException as {@link #next}
     */
    public void save(DataOutput output, Runnable sometimes) throws IOException {
        while (!ended) {
            int count = pinned.read(rows, found -> view.collect(this, found), found -> save(found, output));
            ended = count == 0;
            sometimes.run();
        }
        output.writeLong(0);
        output.writeInt(-1);
    }

    private void save(int count, DataOutput output) throws IOException {
        for (int i = 0; i < count; i++) {
            output.writeLong(RowVersions.weight(rows[i]));
            SectionOutput.writeBytes(rows[i], RowVersions.length(rows[i]), output);
        }
    }

    /** Whether all was read. */
    public boolean isEnded() {
        return ended;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            ended = true;
            pinned.close();
            view.closed(this);
        }
    }
}
