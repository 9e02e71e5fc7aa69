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

    private final Targets targets;
    private final boolean toAll;
    private int next;
    private int watermarks; // since one was sent

    ChannelsOutlet(List<Channel> targets, boolean toAll) {
        this.targets = new Targets(targets);
        this.toAll = toAll;
    }

    @Override
    public void rows(Batch batch) {
        if (!toAll) {
            targets.put(next, new Item.Rows(batch));
            next = (next + 1) % targets.count();
            return;
        }
        for (int i = 1; i < targets.count(); i++) {
            batch.retain();
        }
        targets.signal(new Item.Rows(batch));
    }

    @Override
    public void watermark(long micros) {
        targets.keep(micros);
        watermarks++;
        if (watermarks == MOST_WAITING || micros == Operator.END_OF_INPUT) {
            flush();
        }
    }

    @Override
    public void idle() {
        flush();
        targets.signal(Item.IDLE);
    }

    @Override
    public void epochEnd(long epoch) {
        flush();
        targets.signal(new Item.EpochEnd(epoch));
    }

    @Override
    public void end() {
        flush();
        targets.signal(Item.END);
    }

    @Override
    public void flush() {
        watermarks = 0;
        targets.sendWatermark();
    }

    @Override
    public boolean isFull() {
        return targets.isFull();
    }

    @Override
    public void close() {}
}
