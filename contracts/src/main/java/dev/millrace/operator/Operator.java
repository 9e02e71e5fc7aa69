package dev.millrace.operator;

import dev.millrace.batch.Batch;
import java.io.IOException;

/**
 * One step of a pipeline: weighted batches in, weighted batches out. Driven by one thread at a time.
 *
 * <pre>
 *   open ( process* | onWatermark+ | onEpochEnd+ | snapshot )* close         restore: once, right after open
 * </pre>
 *
 * Watermarks only grow; {@link #END_OF_INPUT} is the last when the input is finite, and closes every window. The host
 * combines watermarks and epochs of several inputs: the operator sees their minimum, and the end of an epoch once all
 * inputs reached it. The host passes signals on downstream after the operator is done with them.
 *
 * <p>{@code onWatermark} and {@code onEpochEnd} may have much to emit. They emit some batches, and return false if
 * there are more; the host then calls the same method again with the same argument when the output has room, and nothing
 * else before it returned true.
 */
public interface Operator extends AutoCloseable {
    /** The watermark after which no row comes. */
    long END_OF_INPUT = Long.MAX_VALUE;

    /** The watermark before any row. */
    long NO_WATERMARK = Long.MIN_VALUE;

    /** Called once, first. */
    void open(OperatorContext context);

    /**
     * Rows of input {@code port}. The operator owns the batch: it closes it, keeps it or passes it on. What it emits is
     * bounded by a small multiple of the input.
     */
    void process(int port, Batch batch, Output output);

    /** No row older than {@code watermarkMicros} is expected any more. Returns whether all was emitted. */
    default boolean onWatermark(long watermarkMicros, Output output) {
        return true;
    }

    /**
     * The watermark that holds for what was emitted so far, at most the given one, which was the last: asked for after
     * {@code onWatermark} and {@code onEpochEnd}. An operator that emits rows behind the watermark, or later, holds it
     * back.
     */
    default long passedWatermark(long watermarkMicros) {
        return watermarkMicros;
    }

    /** The epoch is complete: emit the changes it made. Returns whether all was emitted. */
    default boolean onEpochEnd(long epoch, Output output) {
        return true;
    }

    /**
     * Writes all state, by key group. Called between epochs: after {@code onEpochEnd} returned true, before more input.
     *
     * @throws IOException what the writer's outputs throw
     */
    default void snapshot(StateWriter writer) throws IOException {}

    /** Restores the state of the key groups that {@link OperatorContext#keyGroups()} names; others may be in the input. */
    default void restore(StateReader reader) {}

    /** Frees everything; idempotent, also after a failed {@code open}. */
    @Override
    void close();
}
