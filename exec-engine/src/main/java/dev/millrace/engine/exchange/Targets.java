package dev.millrace.engine.exchange;

import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.channel.Item;
import dev.millrace.operator.Operator;
import java.util.List;

/** The channels of an outlet. Signals go to all of them; a watermark waits until it is sent. One thread. */
final class Targets {
    private final Channel[] channels;
    private long waitingWatermark = Operator.NO_WATERMARK;
    private long sentWatermark = Operator.NO_WATERMARK;

    Targets(List<Channel> channels) {
        this.channels = channels.toArray(Channel[]::new);
    }

    int count() {
        return channels.length;
    }

    void put(int target, Item item) {
        channels[target].put(item);
    }

    void signal(Item item) {
        for (Channel channel : channels) {
            channel.put(item);
        }
    }

    /** A watermark behind what was put before; it takes the place of one that waits. */
    void keep(long watermarkMicros) {
        waitingWatermark = watermarkMicros;
    }

    void sendWatermark() {
        if (waitingWatermark > sentWatermark) {
            sentWatermark = waitingWatermark;
            signal(new Item.Watermark(waitingWatermark));
        }
    }

    boolean isFull() {
        for (Channel channel : channels) {
            if (channel.isFull()) {
                return true;
            }
        }
        return false;
    }
}
