package dev.millrace.engine.task;

import dev.millrace.engine.channel.Item;
import java.util.Optional;
import java.util.function.LongPredicate;

/** One of the things a task reads. Used by the task's worker only, but for what says otherwise. */
public abstract sealed class TaskInput implements AutoCloseable permits ChannelInput, SourceInput {
    private final EntryStage entry;
    private final int port;
    private boolean ended;
    private boolean atEpochEnd;
    private long lastServed;

    TaskInput(EntryStage entry) {
        this.entry = entry;
        this.port = entry.newPort();
    }

    /** What is next, if anything is at hand. */
    abstract Optional<Item> next();

    /** What is done with what comes while the task is paused. */
    enum Keeping {
        /** All waits here; what is too much fails the query, as nobody says when it will go on. */
        ALL_OR_FAIL,
        /** What is too much stays where it comes from, and its producer waits: the task goes on soon. */
        WHAT_HAS_ROOM,
        /** All waits here: the task is about to go on. */
        ALL
    }

    /**
     * Called instead of {@link #next} while the task is paused.
     *
     * @param isCut whether a checkpoint is as of the end of an epoch
     */
    abstract void nextWhilePaused(LongPredicate isCut, Keeping keeping);

    /** Whether all that comes before the cut of a checkpoint is here, while the task is paused. */
    abstract boolean isPast(LongPredicate cut);

    /** Whether nobody is held up if what is here is read later. */
    abstract boolean mayWait();

    /** Whether it has something, but waits for others that are behind it. */
    boolean isHeldBack() {
        return false;
    }

    /** Whether rows wait here for the query's next intake: event time is not to go on without them. */
    abstract boolean isHolding();

    /** Bytes that wait here; on any thread. */
    public abstract long queuedBytes();

    /** Rows that wait here; on any thread. */
    public abstract long queuedRows();

    /** Time for which rows waited here, each batch's own, in all; on any thread. */
    public abstract long waitNanos();

    public EntryStage entry() {
        return entry;
    }

    int port() {
        return port;
    }

    boolean isOpen() {
        return !ended && !atEpochEnd;
    }

    boolean isEnded() {
        return ended;
    }

    void setEnded() {
        ended = true;
    }

    void setAtEpochEnd(boolean newAtEpochEnd) {
        atEpochEnd = newAtEpochEnd;
    }

    long lastServed() {
        return lastServed;
    }

    void served(long sequence) {
        lastServed = sequence;
    }

    /** The event time this input has come to: of two, the one behind is read first, which keeps state small. */
    long progress() {
        return Math.max(entry.watermark(), entry.assigned());
    }

    @Override
    public abstract void close();
}
