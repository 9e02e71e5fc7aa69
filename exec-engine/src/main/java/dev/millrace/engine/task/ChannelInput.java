package dev.millrace.engine.task;

import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.channel.Item.EpochEnd;
import dev.millrace.engine.channel.Item.Rows;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;

/**
 * What comes from another task, or from a relation. While it is paused rows and watermarks wait here and epochs pass,
 * as if the rows had come later.
 */
public final class ChannelInput extends TaskInput {
    private final Channel channel;
    private final long mostWaitingBytes;
    private final ArrayDeque<Item> waiting = new ArrayDeque<>();
    private volatile long waitingBytes; // written by the task's worker, read by statistics
    private volatile boolean paused; // written by whoever pauses the query, read by the task's worker

    public ChannelInput(EntryStage entry, Channel channel) {
        this(entry, channel, Long.MAX_VALUE);
    }

    /** @param mostWaitingBytes that may wait while paused */
    public ChannelInput(EntryStage entry, Channel channel, long mostWaitingBytes) {
        super(entry);
        this.channel = channel;
        this.mostWaitingBytes = mostWaitingBytes;
    }

    /** Before the task runs: what comes before what is in the channel. */
    public void begin(List<Item> first) {
        first.forEach(this::hold);
    }

    public Channel channel() {
        return channel;
    }

    /** Any thread; the input's epochs must be at rest, so that all inputs of a query pause at the same one. */
    public void setPaused(boolean newPaused) {
        paused = newPaused;
    }

    @Override
    Optional<Item> next() {
        if (!paused) {
            Item item = waiting.poll();
            if (item == null) {
                return channel.poll();
            }
            if (item instanceof Rows rows) {
                waitingBytes -= rows.batch().sizeInBytes();
            }
            return Optional.of(item);
        }
        while (true) {
            Optional<Item> item = channel.poll();
            if (item.isEmpty() || item.get() instanceof EpochEnd) {
                return item;
            }
            hold(item.get());
            if (waitingBytes > mostWaitingBytes) {
                throw MillraceException.resources(
                        SqlState.OUT_OF_MEMORY,
                        "paused for too long: " + waitingBytes + " bytes of input wait, the limit is "
                                + mostWaitingBytes);
            }
        }
    }

    private void hold(Item item) {
        waiting.add(item);
        if (item instanceof Rows rows) {
            waitingBytes += rows.batch().sizeInBytes();
        }
    }

    @Override
    public long queuedBytes() {
        return channel.queuedBytes() + waitingBytes;
    }

    @Override
    public void close() {
        channel.close();
        for (Item item : waiting) {
            if (item instanceof Rows rows) {
                rows.batch().close();
            }
        }
        waiting.clear();
        waitingBytes = 0;
    }
}
