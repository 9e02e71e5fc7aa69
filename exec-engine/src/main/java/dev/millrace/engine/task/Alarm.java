package dev.millrace.engine.task;

/** What an operator is that has something to emit at a time of the clock, rows or not. On the task's thread. */
public interface Alarm {
    /** When an epoch's end should come, by the host's clock; {@code Long.MAX_VALUE} for never, and while one is awaited. */
    long dueNanos();

    /** The host has seen that it is due, and brings about an epoch's end. */
    void awaitEpochEnd();
}
