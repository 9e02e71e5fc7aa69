package dev.millrace.engine.channel;

import dev.millrace.batch.Batch;

/** What travels from task to task, in one order. */
public sealed interface Item {
    Item IDLE = new Idle();
    Item END = new End();

    /** Rows; whoever holds the item owns the batch. */
    record Rows(Batch batch) implements Item {}

    /** No row older than this follows; {@code Operator.END_OF_INPUT} if none at all. */
    record Watermark(long micros) implements Item {}

    /** Nobody should wait for this input's watermark until something else comes from it. */
    record Idle() implements Item {}

    /** All rows of the epoch came before. */
    record EpochEnd(long epoch) implements Item {}

    /** Nothing follows, no epoch's end either. Without a watermark at the end of input before it: the producer is gone. */
    record End() implements Item {}

    /** The producer failed in a way that its consumers share. */
    record Failure(RuntimeException failure) implements Item {}
}
