package dev.millrace.engine.operators;

import dev.millrace.batch.Batch;
import dev.millrace.connector.SourceReader;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;

/** Reads batches that are there already: the rows of a view, or constants. */
public final class BatchesReader implements SourceReader {
    private final ArrayDeque<Batch> left;
    private final int total;

    public BatchesReader(List<Batch> batches) {
        left = new ArrayDeque<>(batches);
        total = batches.size();
    }

    @Override
    public Optional<Batch> poll() {
        return Optional.ofNullable(left.poll());
    }

    @Override
    public boolean isFinished() {
        return left.isEmpty();
    }

    @Override
    public long retryAfterMicros() {
        return 0;
    }

    @Override
    public double progress() {
        return total == 0 ? 1 : 1 - (double) left.size() / total;
    }

    @Override
    public void close() {
        left.forEach(Batch::close);
        left.clear();
    }
}
