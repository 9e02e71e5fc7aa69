package dev.millrace.engine.relation;

import dev.millrace.batch.Batch;
import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.channel.Outlet;
import java.util.ArrayList;
import java.util.List;

/**
 * Passes what a relation receives to all queries that read it. Readers come and go on any thread, those that come while
 * the relation's epochs are at rest; the rest is for one thread at a time.
 */
public final class Fanout implements Outlet {
    private volatile List<Channel> readers = List.of(); // replaced under the lock, read by who passes rows on
    private volatile boolean ended; // written by who passes rows on, read by those who would become readers
    private volatile long lastWatermark = dev.millrace.operator.Operator.NO_WATERMARK; // likewise

    public synchronized void add(Channel reader) {
        List<Channel> more = new ArrayList<>(readers);
        more.add(reader);
        readers = List.copyOf(more);
    }

    public synchronized void remove(Channel reader) {
        List<Channel> fewer = new ArrayList<>(readers);
        fewer.remove(reader);
        readers = List.copyOf(fewer);
    }

    public boolean hasReaders() {
        return !readers.isEmpty();
    }

    /** Whether nothing will come any more. */
    public boolean isEnded() {
        return ended;
    }

    /** The last watermark passed on, for a reader that comes later. */
    public long lastWatermark() {
        return lastWatermark;
    }

    @Override
    public void rows(Batch batch) {
        List<Channel> current = readers;
        for (int i = 0; i < current.size(); i++) {
            current.get(i).put(new Item.Rows(batch.retain()));
        }
        batch.close();
    }

    private void signal(Item item) {
        List<Channel> current = readers;
        for (int i = 0; i < current.size(); i++) {
            current.get(i).put(item);
        }
    }

    @Override
    public void watermark(long micros) {
        lastWatermark = micros;
        signal(new Item.Watermark(micros));
    }

    @Override
    public void idle() {
        signal(Item.IDLE);
    }

    @Override
    public void epochEnd(long epoch) {
        signal(new Item.EpochEnd(epoch));
    }

    @Override
    public void end() {
        ended = true;
        signal(Item.END);
    }

    /** All readers fail. */
    public void fail(RuntimeException failure) {
        ended = true;
        signal(new Item.Failure(failure));
    }

    @Override
    public void flush() {}

    @Override
    public boolean isFull() {
        List<Channel> current = readers;
        for (int i = 0; i < current.size(); i++) {
            if (current.get(i).isFull()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close() {}
}
