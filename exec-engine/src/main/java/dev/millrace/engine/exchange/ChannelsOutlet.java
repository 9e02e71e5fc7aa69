package dev.millrace.engine.exchange;

import dev.millrace.batch.Batch;
import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.channel.Outlet;
import dev.millrace.operator.Operator;
import java.util.List;

/**
 * Sends whole batches, to all targets or to each in turn; signals to all. A watermark waits for some more, for what ends an
 * epoch or until nothing follows for a while: where few rows come of many, it is the watermarks that would wake the targets.
 */
final class ChannelsOutlet implements Outlet {
    private static final int MOST_WAITING = 16;

    private final Channel[] targets;
    private final boolean toAll;
    private int next;
    private long waitingWatermark = Operator.NO_WATERMARK;
    private long sentWatermark = Operator.NO_WATERMARK;
    private int watermarks; // since one was sent

    ChannelsOutlet(List<Channel> targets, boolean toAll) {
        this.targets = targets.toArray(Channel[]::new);
        this.toAll = toAll;
    }

    @Override
    public void rows(Batch batch) {
        if (!toAll) {
            targets[next].put(new Item.Rows(batch));
            next = (next + 1) % targets.length;
            return;
        }
        for (int i = 1; i < targets.length; i++) {
            batch.retain();
        }
        for (Channel target : targets) {
            target.put(new Item.Rows(batch));
        }
    }

    private void signal(Item item) {
        for (Channel target : targets) {
            target.put(item);
        }
    }

    @Override
    public void watermark(long micros) {
        waitingWatermark = micros;
        watermarks++;
        if (watermarks == MOST_WAITING || micros == Operator.END_OF_INPUT) {
            flush();
        }
    }

    @Override
    public void idle() {
        flush();
        signal(Item.IDLE);
    }

    @Override
    public void epochEnd(long epoch) {
        flush();
        signal(new Item.EpochEnd(epoch));
    }

    @Override
    public void end() {
        flush();
        signal(Item.END);
    }

    @Override
    public void flush() {
        watermarks = 0;
        if (waitingWatermark > sentWatermark) {
            sentWatermark = waitingWatermark;
            signal(new Item.Watermark(waitingWatermark));
        }
    }

    @Override
    public boolean isFull() {
        for (Channel target : targets) {
            if (target.isFull()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close() {}
}
