package dev.millrace.operator;

import dev.millrace.batch.Batch;

/** Where an operator emits. Called on the operator's thread only. */
public interface Output {
    /** Takes the batch over, always. Empty batches are allowed and cost something. */
    void emit(Batch batch);

    /** Whether to stop emitting and return false from a signal method, because what follows is busy. */
    boolean isFull();
}
