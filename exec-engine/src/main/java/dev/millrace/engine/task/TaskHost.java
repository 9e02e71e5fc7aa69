package dev.millrace.engine.task;

import dev.millrace.batch.Batch;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.scheduler.WindowProgress;
import dev.millrace.scheduler.Workers;
import dev.millrace.time.Clock;
import java.util.Optional;

/** What a query lends to its tasks. Safe on any thread; calls must return soon. */
public interface TaskHost {
    String name();

    int priority();

    /** Whether its tasks run when others have nothing to do: it reads the past. */
    default boolean isBackground() {
        return false;
    }

    /** When its next window ends, if it has any; for each decision, on any thread. */
    default Optional<WindowProgress> windows() {
        return Optional.empty();
    }

    Clock clock();

    /** The time of an epoch that is ending: one for all that have it. Microseconds since 1970. */
    long epochMicros(long epoch);

    Workers workers();

    /** Rows of a full batch. */
    int batchRows();

    /** Rows that came too late; the batch stays the caller's. */
    void lateRows(Batch batch, int[] rows, int count, long watermarkMicros);

    /** Event time moved without rows: what follows from it is to become visible soon. */
    void touch();

    /** A task failed; it runs no more. */
    void failed(Throwable failure);

    /** How long a task may be at one row. */
    long mostRowNanos();

    /** What its tasks work for: stopped when they are to run no more. */
    Interrupt interrupt();

    /**
     * A task has carried an epoch's end through all its stages, and has read no later row: what it keeps is as of this epoch.
     * Called on its thread; if a checkpoint is as of this epoch, what the task keeps is written, or begun to be.
     *
     * @return whether some of it is left to be written while rows flow, by {@link #saveMore}
     */
    boolean epochEnded(PipelineTask task, long epoch);

    /** How more of what a task keeps is written. */
    enum Saving {
        /** Between rows: nothing is waited for. */
        BETWEEN_ROWS,
        /** While there are none: memory for it may be waited for, some milliseconds. */
        IDLE,
        /** Because the task's state is about to be another: whether there is memory or not. */
        AT_ONCE
    }

    /** Writes some more of what a task kept at the epoch's end; on its thread, or while it is at no step. Returns whether nothing is left. */
    boolean saveMore(PipelineTask task, Saving how);

    /** Whether a checkpoint is as of the end of this epoch. */
    boolean isCut(long epoch);

    /** A task has passed on the end of all its inputs; it runs no more. */
    void ended(PipelineTask task);
}
