package dev.millrace.engine.relation;

import dev.millrace.batch.Batch;
import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.channel.Outlet;
import dev.millrace.engine.epoch.Epochs;
import dev.millrace.error.MillraceException;
import dev.millrace.operator.Operator;
import dev.millrace.scheduler.Signal;
import java.util.Arrays;
import java.util.Optional;

/**
 * Passes what a relation receives to all queries that read it. Readers come and go on any thread, those that come between
 * two epochs; the rest is for one thread at a time.
 */
public final class Fanout implements Outlet {
    private static final int FIRST_ROOM = 4;

    /** The first {@code count} of {@code all}; what comes behind them is not theirs, so that one more costs no copy. */
    private record Readers(Channel[] all, int count) {
        Readers with(Channel reader) {
            Channel[] more = count < all.length ? all : Arrays.copyOf(all, Math.max(FIRST_ROOM, 2 * count));
            more[count] = reader;
            return new Readers(more, count + 1);
        }

        /** The last added is found first: many readers go in the opposite order in which they came. */
        Readers without(Channel reader) {
            int place = count - 1;
            while (place >= 0 && all[place] != reader) {
                place--;
            }
            if (place < 0) {
                return this;
            }
            Channel[] fewer =
                    Arrays.copyOf(all, count - 1); // in an array of its own: others may be going through this one
            System.arraycopy(all, place + 1, fewer, place, count - 1 - place);
            return new Readers(fewer, count - 1);
        }
    }

    private final Signal signal;
    private volatile Readers readers =
            new Readers(new Channel[0], 0); // replaced under the lock, read by who passes rows on
    private volatile long firstEpoch = Epochs.NONE; // written before rows come, read by those who would become readers

    // Written by who passes rows on, read by those who would become readers.
    private volatile boolean ended;
    private volatile long lastWatermark = Operator.NO_WATERMARK;
    private volatile long lastEpoch = Epochs.NONE;
    private volatile boolean idle;

    private volatile Optional<MillraceException> failed = Optional.empty();
    private volatile long rowsSoFar; // written by who passes rows on, read by who plans

    /** @param signal raised when an epoch's end was passed on */
    public Fanout(Signal signal) {
        this.signal = signal;
    }

    /** Adds a reader; false if nothing will come any more, and it is none. */
    public synchronized boolean add(Channel reader) {
        if (ended) {
            return false;
        }
        readers = readers.with(reader);
        return true;
    }

    public synchronized void remove(Channel reader) {
        readers = readers.without(reader);
    }

    public boolean hasReaders() {
        return readers.count > 0;
    }

    /** Before rows come: no reader may be added before this epoch's end was passed on. */
    public void beginWith(long epoch) {
        firstEpoch = epoch;
    }

    /** Whether the end of an epoch, and of the first, was passed on, or nothing will come any more. */
    public boolean hasEnded(long epoch) {
        return ended || lastEpoch >= Math.max(epoch, firstEpoch);
    }

    /** Whether nothing will come any more. */
    public boolean isEnded() {
        return ended;
    }

    /** Why nothing will come any more, if that is so because it failed. */
    public Optional<MillraceException> failure() {
        return failed;
    }

    /** The last watermark passed on, for a reader that comes later. */
    public long lastWatermark() {
        return lastWatermark;
    }

    /** Whether nobody is to wait for event time here; for a reader that comes later. */
    public boolean isIdle() {
        return idle;
    }

    /** How many rows were passed on, or would have been to a reader. */
    long rowsSoFar() {
        return rowsSoFar;
    }

    @Override
    public void rows(Batch batch) {
        idle = false;
        rowsSoFar += batch.rowCount();
        Readers current = readers;
        for (int i = 0; i < current.count; i++) {
            current.all[i].put(new Item.Rows(batch.retain()));
        }
        batch.close();
    }

    private void tell(Item item) {
        Readers current = readers;
        for (int i = 0; i < current.count; i++) {
            current.all[i].put(item);
        }
    }

    @Override
    public void watermark(long micros) {
        idle = false;
        lastWatermark = micros;
        tell(new Item.Watermark(micros));
    }

    @Override
    public void idle() {
        idle = true;
        tell(Item.IDLE);
    }

    @Override
    public void epochEnd(long epoch) {
        tell(new Item.EpochEnd(epoch));
        lastEpoch = epoch;
        signal.raise();
    }

    @Override
    public void end() {
        close(Item.END);
    }

    /** All readers fail, those that would come later too. */
    public void fail(MillraceException failure) {
        failed = Optional.of(failure);
        close(new Item.Failure(failure));
    }

    private void close(Item last) {
        synchronized (this) {
            ended = true;
        }
        tell(last);
        signal.raise();
    }

    @Override
    public void flush() {}

    @Override
    public boolean isFull() {
        Readers current = readers;
        for (int i = 0; i < current.count; i++) {
            if (current.all[i].isFull()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean takesSignalsWhenFull() {
        return true;
    }

    @Override
    public void close() {}
}
