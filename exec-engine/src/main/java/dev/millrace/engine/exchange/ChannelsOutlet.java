package dev.millrace.engine.exchange;

import dev.millrace.batch.Batch;
import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.channel.Item;
import java.util.List;

/** Sends whole batches, to all targets or to each in turn. */
final class ChannelsOutlet extends TargetsOutlet {
    private static final int MOST_WAITING = 16;

    private final boolean toAll;
    private int next;
    private int watermarks; // since one was sent

    ChannelsOutlet(List<Channel> targets, boolean toAll) {
        super(targets);
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
    void sendRows() {
        watermarks = 0;
    }

    @Override
    boolean isWatermarkDue() {
        return ++watermarks == MOST_WAITING;
    }

    @Override
    public void close() {}
}
