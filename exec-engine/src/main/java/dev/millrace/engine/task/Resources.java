package dev.millrace.engine.task;

import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.checkpoint.Barriers;
import dev.millrace.engine.epoch.Epochs;
import dev.millrace.scheduler.Signal;
import dev.millrace.scheduler.Workers;
import dev.millrace.time.Clock;
import java.util.concurrent.Executor;

/**
 * What everything in one engine shares.
 *
 * @param signal raised when anything changed that a caller may wait for
 * @param batchRows rows of a full batch
 * @param mostWaitingBytes what a paused query's inputs may hold
 * @param sinkThreads call sinks that may wait for the outside
 * @param abandoned steps that nobody waits for
 * @param barriers the checkpoint under way
 */
public record Resources(
        Workers workers,
        Clock clock,
        Epochs epochs,
        Signal signal,
        MemoryScopes memory,
        int batchRows,
        long channelHighBytes,
        long channelLowBytes,
        long mostWaitingBytes,
        Executor sinkThreads,
        AbandonedSteps abandoned,
        Barriers barriers) {

    public Resources(
            Workers workers,
            Clock clock,
            Epochs epochs,
            Signal signal,
            MemoryScopes memory,
            int batchRows,
            long channelHighBytes,
            long channelLowBytes,
            long mostWaitingBytes,
            Executor sinkThreads) {
        this(
                workers,
                clock,
                epochs,
                signal,
                memory,
                batchRows,
                channelHighBytes,
                channelLowBytes,
                mostWaitingBytes,
                sinkThreads,
                new AbandonedSteps(sinkThreads),
                new Barriers());
    }

    /**
     * Queries that share a relation have its rows once, each a place of its own in them; who is so many channels behind holds
     * back the relation, and with it the others.
     */
    private static final int SHARED = 16;

    /** A channel's bytes by this is some room. */
    private static final int SOME = 16;

    /** What may wait for a sink. */
    public long sinkQueueBytes() {
        return SHARED * channelHighBytes;
    }

    /** What may wait for a query's next intake. */
    public long intakeBytes() {
        return SHARED * channelHighBytes;
    }

    /** A channel between two tasks of a query. */
    public Channel newChannel() {
        return new Channel(channelHighBytes, channelLowBytes, clock);
    }

    /** A channel from a relation that other queries may read, too. */
    public Channel newSharedChannel() {
        // The relation goes on as soon as there is some room: others wait for what it brings, and who is behind may be
        // slow.
        return new Channel(
                SHARED * channelHighBytes, SHARED * channelHighBytes - Math.max(1, channelHighBytes / SOME), clock);
    }
}
