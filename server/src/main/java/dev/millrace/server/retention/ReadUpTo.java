package dev.millrace.server.retention;

import dev.millrace.storage.retention.SegmentStore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** How far a standing query's reader is in what a stream keeps. Safe on any thread; moved by the reader. */
public final class ReadUpTo {
    private final SegmentStore store;
    private final LongSupplier durable;
    private final AtomicLong next = new AtomicLong(); // the first entry of which rows may be to come

    ReadUpTo(SegmentStore store, LongSupplier durable) {
        this.store = store;
        this.durable = durable;
    }

    /** All rows of entries before this one were read, and passed on. */
    void before(long entry) {
        next.set(entry);
    }

    /** The last entry of the stream's rows that anybody was told is there; 0 if there is none. */
    public long lastTold() {
        return Math.min(durable.getAsLong(), store.lastAppended());
    }

    /** Whether all rows up to an entry were read. */
    public boolean has(long entry) {
        return next.get() > entry;
    }
}
