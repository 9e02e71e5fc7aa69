package dev.millrace.engine.task;

import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.channel.Item.EpochEnd;
import dev.millrace.engine.intake.HeldItems;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;

/**
 * What comes from another task, or from a relation. While the task is paused, rows and watermarks wait here, as if they
 * came later; the epochs' ends are dropped, because the query's output passes them on meanwhile. What comes from a relation may wait for the query's
 * next intake, too.
 */
public final class ChannelInput extends TaskInput {
    private static final long NO_EPOCH = -1;

    private final Channel channel;
    private final boolean isOfRelation;
    private final long mostWaitingBytes;
    private final HeldItems waiting;
    private boolean endWaits;
    private long cutEpoch = NO_EPOCH; // that came last of those at which a checkpoint was cut
    private int waitingAtCut;

    /** What comes from another task. */
    public ChannelInput(EntryStage entry, Channel channel, HeldItems waiting) {
        this(entry, channel, Long.MAX_VALUE, false, waiting);
    }

    /**
     * What comes from a relation.
     *
     * @param mostWaitingBytes that may wait while paused
     */
    public ChannelInput(EntryStage entry, Channel channel, long mostWaitingBytes, HeldItems waiting) {
        this(entry, channel, mostWaitingBytes, true, waiting);
    }

    private ChannelInput(
            EntryStage entry, Channel channel, long mostWaitingBytes, boolean isOfRelation, HeldItems waiting) {
        super(entry);
        this.channel = channel;
        this.isOfRelation = isOfRelation;
        this.waiting = waiting;
        this.mostWaitingBytes = mostWaitingBytes;
    }

    /** Before the task runs: what comes before what is in the channel. */
    public void begin(List<Item> first) {
        first.forEach(waiting::hold);
        waiting.goOn();
    }

    public Channel channel() {
        return channel;
    }

    /**
     * Before the task goes on: whether the end came while it was paused. It is forgotten, because nobody would end the
     * epoch of what waits: who resumes puts an epoch's end and an end in the channel.
     */
    public boolean takeEnd() {
        boolean taken = endWaits;
        endWaits = false;
        return taken;
    }

    @Override
    Optional<Item> next() {
        cutEpoch = NO_EPOCH;
        waitingAtCut = 0;
        while (true) {
            Optional<Item> next = waiting.next();
            if (next.isPresent()) {
                return next;
            }
            Optional<Item> item = channel.poll();
            if (item.isEmpty() || !waiting.keeps(item.get())) {
                return item;
            }
        }
    }

    /** While the task is paused: what had come before the cut of the checkpoint, and is in none of its states. Stays the input's. */
    public List<Item> waitingAtCut() {
        return waiting.items().subList(0, endWaits ? waiting.size() : waitingAtCut);
    }

    @Override
    boolean isPast(LongPredicate cut) {
        return !isOfRelation || endWaits || cutEpoch != NO_EPOCH && cut.test(cutEpoch);
    }

    @Override
    void nextWhilePaused(LongPredicate isCut, Keeping keeping) {
        for (Optional<Item> item = poll(keeping); item.isPresent(); item = poll(keeping)) {
            if (item.get() instanceof Item.End) {
                endWaits = true;
            } else if (!(item.get() instanceof EpochEnd end)) {
                waiting.hold(item.get());
            } else if (isCut.test(end.epoch())) {
                cutEpoch = end.epoch();
                waitingAtCut = waiting.size();
            }
        }
        waiting.goOn();
        if (keeping == Keeping.ALL_OR_FAIL && waiting.bytes() > mostWaitingBytes) {
            throw MillraceException.resources(
                    SqlState.OUT_OF_MEMORY,
                    "paused for too long: " + waiting.bytes() + " bytes of input wait, the limit is "
                            + mostWaitingBytes);
        }
    }

    private Optional<Item> poll(Keeping keeping) {
        return keeping == Keeping.WHAT_HAS_ROOM && waiting.bytes() > mostWaitingBytes
                ? Optional.empty()
                : channel.poll();
    }

    @Override
    boolean mayWait() {
        return waiting.isEmpty() && !channel.isFull();
    }

    @Override
    boolean isHolding() {
        return !waiting.isEmpty();
    }

    @Override
    public long queuedBytes() {
        return channel.queuedBytes() + waiting.bytes();
    }

    @Override
    public long queuedRows() {
        return channel.queuedRows() + waiting.rows();
    }

    @Override
    public long waitNanos() {
        return channel.waitNanos() + waiting.waitNanos();
    }

    @Override
    public void close() {
        channel.close();
        waiting.close();
    }
}
