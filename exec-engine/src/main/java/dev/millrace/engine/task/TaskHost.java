package dev.millrace.engine.task;

import dev.millrace.batch.Batch;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.scheduler.Workers;
import dev.millrace.time.Clock;

/** What a query lends to its tasks. Safe on any thread; calls must return soon. */
public interface TaskHost {
    String name();

    int priority();

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
     * Called on its thread; if a checkpoint is as of this epoch, it takes as long as it takes to write what the task keeps.
     */
    void epochEnded(PipelineTask task, long epoch);

    /** Whether a checkpoint is as of the end of this epoch. */
    boolean isCut(long epoch);

    /** A task has passed on the end of all its inputs; it runs no more. */
    void ended(PipelineTask task);
}
