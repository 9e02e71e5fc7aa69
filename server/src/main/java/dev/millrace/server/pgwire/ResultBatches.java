package dev.millrace.server.pgwire;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.ChangeRows;
import dev.millrace.type.Schema;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** A result as batches of plain rows: those of a finite one, or the changes of a subscription, as they come. */
public final class ResultBatches implements AutoCloseable {
    private static final long POLL_MICROS = 1_000_000;

    private final StatementResult result;
    private final BufferAllocator allocator;
    private final Deque<Batch> waiting = new ArrayDeque<>();
    private boolean ended;

    /** @param result Rows or Changes; closed with this */
    public ResultBatches(StatementResult result, BufferAllocator allocator) {
        this.result = result;
        this.allocator = allocator;
    }

    /** The columns that are sent; none for a result without rows. */
    public static Optional<Schema> schemaOf(StatementResult result) {
        if (result instanceof StatementResult.Rows rows) {
            return Optional.of(rows.schema());
        } else if (result instanceof StatementResult.Changes changes) {
            return Optional.of(changes.form().schema());
        }
        return Optional.empty();
    }

    public Schema schema() {
        return schemaOf(result).orElseThrow();
    }

    /** Whether it ends by itself and goes without waiting for what is yet to happen. */
    public boolean isFinite() {
        return result instanceof StatementResult.Rows;
    }

    /**
     * The next rows, not none of them, which the caller closes. Empty at the end, and when {@code wait} is not given and a
     * subscription has nothing at hand.
     */
    public Optional<Batch> next(boolean wait) {
        if (result instanceof StatementResult.Rows rows) {
            Optional<Batch> next = ended ? Optional.empty() : rows.next();
            ended = next.isEmpty();
            return next;
        }
        StatementResult.Changes changes = (StatementResult.Changes) result;
        boolean more = true;
        while (waiting.isEmpty() && more && !changes.isFinished()) {
            Optional<EpochChanges> next = changes.next(wait ? POLL_MICROS : 0);
            next.ifPresent(this::take);
            more = wait || next.isPresent();
        }
        ended = waiting.isEmpty() && changes.isFinished();
        return Optional.ofNullable(waiting.poll());
    }

    private void take(EpochChanges epoch) {
        try (epoch) {
            waiting.addAll(ChangeRows.of(epoch, ((StatementResult.Changes) result).form(), allocator));
        }
    }

    /** Whether this is a subscription whose client fell too far behind. On any thread. */
    boolean isOverrun() {
        return result instanceof StatementResult.Changes changes && changes.isOverrun();
    }

    /** Whether the last call found the end. */
    public boolean isEnded() {
        return ended;
    }

    @Override
    public void close() {
        Closing.all(waiting);
        waiting.clear();
        result.close();
    }
}
