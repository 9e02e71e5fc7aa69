package dev.millrace.engine.exchange;

import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.channel.Outlet;
import dev.millrace.plan.node.PlanNode.Distribution;
import dev.millrace.type.Schema;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/** Makes the outlets of pipelines. */
public final class Exchanges {
    private Exchanges() {}

    /**
     * @param targets a channel to each instance of the next pipeline; one for {@link Distribution.Single}
     * @param batchRows rows of a full batch
     * @param allocator closed by whoever made it, after the outlet
     */
    public static Outlet outlet(
            Distribution distribution, Schema schema, List<Channel> targets, int batchRows, BufferAllocator allocator) {
        if (distribution instanceof Distribution.Hash hash && targets.size() > 1) {
            return new HashOutlet(schema, hash.columns(), targets, batchRows, allocator);
        }
        return new ChannelsOutlet(targets, distribution instanceof Distribution.Broadcast);
    }
}
