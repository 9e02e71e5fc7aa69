package dev.millrace.server.query;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.server.cancellation.Cancellation;
import dev.millrace.server.cancellation.Failures;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.ChangeRows;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/** A result that is read a part at a time. Belongs to the session's thread. */
final class Cursor implements AutoCloseable {
    private static final long POLL_MICROS = 1_000_000;

    private final StatementResult source;
    private final boolean stays;
    private final Cancellation cancellation;
    private final BufferAllocator allocator;
    private final Clock clock;
    private final Deque<Batch> waiting = new ArrayDeque<>();
    private int row; // of the first that waits, the next that nobody had
    private boolean held;

    /** @param stays beyond the transaction under way, if it is committed */
    Cursor(StatementResult source, boolean stays, Cancellation cancellation, BufferAllocator allocator, Clock clock) {
        this.source = source;
        this.stays = stays;
        this.cancellation = cancellation;
        this.allocator = allocator;
        this.clock = clock;
        cancellation.closed(); // what a later statement cancels is not this
    }

    boolean stays() {
        return stays;
    }

    /** Whether the transaction it was declared in is over, so that no rollback reaches it any more. */
    boolean isHeld() {
        return held;
    }

    void hold() {
        held = true;
    }

    Schema schema() {
        return source instanceof StatementResult.Changes changes
                ? changes.form().schema()
                : ((StatementResult.Rows) source).schema();
    }

    /**
     * The next rows, at most so many.
     *
     * @param timeoutMicros of a subscription how long to wait for as many; none waits for the first, as long as it takes
     */
    StatementResult.Rows fetch(long count, OptionalLong timeoutMicros) {
        long deadlineNanos = timeoutMicros.isPresent()
                ? clock.nanoTime() + TimeUnit.MICROSECONDS.toNanos(Math.min(timeoutMicros.getAsLong(), 1L << 50))
                : Long.MAX_VALUE;
        return new Fetched(count, deadlineNanos);
    }

    private final class Fetched implements StatementResult.Rows {
        private final long deadlineNanos;
        private long left;
        private boolean any;

        Fetched(long count, long deadlineNanos) {
            this.left = count;
            this.deadlineNanos = deadlineNanos;
        }

        @Override
        public Schema schema() {
            return Cursor.this.schema();
        }

        @Override
        public Optional<Batch> next() {
            return Failures.translate(() -> cancellation.run(this::take));
        }

        private Optional<Batch> take() {
            if (left == 0 || !fill(any, deadlineNanos)) {
                return Optional.empty();
            }
            any = true;
            Batch first = waiting.element();
            int count = (int) Math.min(left, first.rowCount() - row);
            left -= count;
            Batch part = row == 0 && count == first.rowCount() ? first.retain() : slice(first, row, count);
            row += count;
            if (row == first.rowCount()) {
                waiting.remove().close();
                row = 0;
            }
            return Optional.of(part);
        }

        @Override
        public void close() {}
    }

    /** Sees to it that a batch waits; false when there is none in time, or no more. */
    private boolean fill(boolean any, long deadlineNanos) {
        if (!waiting.isEmpty()) {
            return true;
        }
        if (source instanceof StatementResult.Rows rows) {
            rows.next().ifPresent(waiting::add);
            return !waiting.isEmpty();
        }
        StatementResult.Changes changes = (StatementResult.Changes) source;
        while (waiting.isEmpty() && !changes.isFinished()) {
            long leftMicros = deadlineNanos == Long.MAX_VALUE
                    ? (any ? 0 : POLL_MICROS)
                    : Math.max(0, (deadlineNanos - clock.nanoTime()) / 1_000);
            Optional<EpochChanges> next = changes.next(Math.min(leftMicros, POLL_MICROS));
            next.ifPresent(this::add);
            cancellation.check();
            if (next.isEmpty() && leftMicros == 0) {
                break;
            }
        }
        return !waiting.isEmpty();
    }

    private void add(EpochChanges epoch) {
        try (epoch) {
            waiting.addAll(ChangeRows.of(epoch, ((StatementResult.Changes) source).form(), allocator));
        }
    }

    private Batch slice(Batch batch, int from, int count) {
        int[] places = IntStream.range(0, batch.columnCount()).toArray();
        try (RowCopier copier = new RowCopier(batch.schema(), allocator)) {
            for (int i = from; i < from + count; i++) {
                copier.copy(batch, places, i, 1);
            }
            return copier.build();
        }
    }

    @Override
    public void close() {
        Closing.all(waiting);
        waiting.clear();
        source.close();
    }
}
