package dev.millrace.engine.view;

import dev.millrace.batch.Batch;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Reads some columns of all rows of a {@link VersionedView} as of the version that was current when it was opened, a batch at
 * a time; what is written meanwhile neither waits nor is seen. For one thread at a time.
 */
public final class ViewScan implements AutoCloseable, RowCursor {
    private final VersionedView view;
    private final List<Integer> columns;
    private final Schema schema;
    private final RowCodec codec;
    private final long[] rows;
    private final Pins.Pin pin;
    private boolean open; // guarded by the view's lock
    private long next; // the node to go on with, 0 at the end; guarded by the view's lock
    private volatile boolean ended; // written by who reads, read by who asks for progress
    private boolean closed;

    ViewScan(VersionedView view, List<Integer> columns, RowCodec codec, int batchRows, Pins.Pin pin) {
        this.view = view;
        this.columns = columns;
        this.schema = view.schema().select(columns);
        this.codec = codec;
        this.rows = new long[batchRows];
        this.pin = pin;
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
        return pin;
    }

    /**
     * The next rows, which the caller closes, in memory of its own; empty at the end. Weights only where a row occurs more than
     * once.
     *
     * @throws MillraceException 72000 if the version had to be given up for the memory that it cost
     */
    public Optional<Batch> next(BufferAllocator target) {
        if (ended) {
            return Optional.empty();
        }
        if (!pin.read()) {
            throw MillraceException.resources(
                            SqlState.SNAPSHOT_TOO_OLD,
                            "what was read changed so much meanwhile that its old rows are no longer kept")
                    .withHint("read the result faster, or fewer rows, and try again");
        }
        try {
            int count = view.collect(this, rows);
            ended = count == 0;
            return ended
                    ? Optional.empty()
                    : Optional.of(VersionedView.decode(codec, columns, schema, rows, count, target));
        } finally {
            pin.rest();
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
            codec.close();
            view.closed(this);
        }
    }
}
