package dev.millrace.server.retention;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.sketched.SketchedForm;
import dev.millrace.storage.retention.SegmentStore;
import dev.millrace.type.Schema;
import java.util.Optional;
import java.util.function.LongSupplier;

/** A stream that keeps its rows. Safe on any thread. */
final class KeptStream {
    private static final long ENOUGH_BYTES = 4 << 20; // to be worth a segment
    private static final long LONGEST_MICROS =
            60_000_000; // that rows wait, so that little is to be done when a database is opened

    final long number; // of its rows
    final Schema schema;
    final Optional<SketchedForm> form; // of old rows
    final SegmentStore store;
    final boolean isDerived; // a query fills it, whose epochs are its entries
    final LongSupplier shown; // the last entry whose rows everybody may see

    /** The last entry whose segments may be merged: it is not cut back to one before. Written by who makes checkpoints. */
    private volatile long settled;

    private volatile long flushedMicros; // written by who maintains it

    /** @param durable the last entry of the log that is on disk */
    KeptStream(
            long number,
            Schema schema,
            Optional<SketchedForm> form,
            SegmentStore store,
            boolean isDerived,
            LongSupplier durable,
            long nowMicros) {
        this.number = number;
        this.schema = schema;
        this.form = form;
        this.store = store;
        this.isDerived = isDerived;
        this.shown = isDerived ? store::lastAppended : durable;
        this.settled = isDerived ? store.lastEntry() : Long.MAX_VALUE;
        this.flushedMicros = nowMicros;
    }

    /** A checkpoint of a number is on disk. */
    void published(long checkpoint) {
        settled = isDerived ? checkpoint : settled;
    }

    /** How many segments wait for a checkpoint. */
    long unsettled() {
        return store.segments().stream()
                .filter(segment -> segment.lastEntry() > settled)
                .count();
    }

    /**
     * Writes what everybody may see: rows before and behind the last cut of a checkpoint to different segments.
     *
     * @param cut the number of that checkpoint, which is known before there are rows behind it
     * @throws dev.millrace.error.MillraceException 53100 or 58030
     */
    void flush(LongSupplier cut) {
        long last = shown.getAsLong(); // first: a later cut has all of these
        if (isDerived) {
            store.flush(Math.min(last, cut.getAsLong()));
        }
        store.flush(last);
    }

    /** Writes what waits for long or is much, drops what is old, merges what is small. */
    void maintain(long nowMicros, LongSupplier cut) {
        boolean isLong = nowMicros - flushedMicros >= LONGEST_MICROS || nowMicros < flushedMicros;
        if (store.pendingBytes() > ENOUGH_BYTES || isLong) {
            flush(cut);
            flushedMicros = nowMicros;
        }
        store.drop(nowMicros);
        while (store.damage().isEmpty() && store.merge(settled)) {
            Interrupt.checkCurrent();
        }
    }
}
