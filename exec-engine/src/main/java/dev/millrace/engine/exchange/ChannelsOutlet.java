package dev.millrace.engine.exchange;

import dev.millrace.batch.Batch;
import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.channel.Outlet;
import java.util.List;

/** Sends whole batches, to all targets or to each in turn; signals to all. */
final class ChannelsOutlet implements Outlet {
    private final Channel[] targets;
    private final boolean toAll;
    private int next;

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
        signal(Item.END);
    }

    @Override
    public void flush() {}

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
