package dev.millrace.engine.channel;

import dev.millrace.batch.Batch;

/** Where a task's rows and signals leave it. Called by one thread at a time. */
public interface Outlet extends AutoCloseable {
    /** Takes the batch over, always. */
    void rows(Batch batch);

    void watermark(long micros);

    /** Nobody should wait for a watermark from here until more comes. */
    void idle();

    void epochEnd(long epoch);

    /** Nothing follows. */
    void end();

    /** Passes on what was kept back to make larger batches, because nothing follows for a while. */
    void flush();

    /** Whether the task should pause before it makes more. Whoever makes room wakes it. */
    boolean isFull();

    /** Whether the ends of epochs are welcome while it is full, because others are past the rows that it is full of. */
    default boolean takesSignalsWhenFull() {
        return false;
    }

    /** Frees what was kept back; idempotent. */
    @Override
    void close();
}
