package dev.millrace.engine.exchange;

import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.channel.Outlet;
import dev.millrace.operator.Operator;
import java.util.List;

/**
 * An outlet to several channels: rows go as the subclass says, signals to all, behind the rows before them. A watermark waits
 * until enough has come, for what ends an epoch, or until nothing follows for a while: where few rows come of many, it is the
 * watermarks that would wake the targets. One thread.
 */
abstract class TargetsOutlet implements Outlet {
    final Targets targets;

    TargetsOutlet(List<Channel> channels) {
        this.targets = new Targets(channels);
    }

    /** Sends the rows that were held back, if any are, and counts anew. */
    abstract void sendRows();

    /** Whether enough has come since {@link #sendRows} that the watermark just kept is to be sent. */
    abstract boolean isWatermarkDue();

    @Override
    public final void watermark(long micros) {
        targets.keep(micros);
        if (isWatermarkDue() || micros == Operator.END_OF_INPUT) {
            flush();
        }
    }

    @Override
    public final void flush() {
        sendRows();
        targets.sendWatermark();
    }

    @Override
    public final void idle() {
        signal(Item.IDLE);
    }

    @Override
    public final void epochEnd(long epoch) {
        signal(new Item.EpochEnd(epoch));
    }

    @Override
    public final void end() {
        signal(Item.END);
    }

    private void signal(Item item) {
        flush();
        targets.signal(item);
    }

    @Override
    public final boolean isFull() {
        return targets.isFull();
    }
}
