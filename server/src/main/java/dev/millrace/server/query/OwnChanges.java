package dev.millrace.server.query;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.server.cancellation.Cancellation;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.ChangeRows;
import dev.millrace.type.Schema;
import java.util.Optional;
import java.util.function.Consumer;

/** A subscription to a query that runs for it alone and ends with it. */
final class OwnChanges implements StatementResult.Changes {
    private final Schema schema;
    private final StandingQuery query;
    private final ChangeQueue queue;
    private final boolean appendOnly;
    private final ChangeRows.Form form;
    private final OpenChanges open;
    private final Consumer<String> notices;
    private final Runnable onClose;
    private boolean closed;

    /** @param onClose called when the query is gone */
    OwnChanges(
            Schema schema,
            StandingQuery query,
            ChangeQueue queue,
            boolean appendOnly,
            ChangeRows.Form form,
            Cancellation cancellation,
            Consumer<String> notices,
            Runnable onClose) {
        this.schema = schema;
        this.query = query;
        this.queue = queue;
        this.appendOnly = appendOnly;
        this.form = form;
        this.open = new OpenChanges(cancellation);
        this.notices = notices;
        this.onClose = onClose;
    }

    @Override
    public Schema schema() {
        return schema;
    }

    @Override
    public ChangeRows.Form form() {
        return form;
    }

    @Override
    public boolean isOverrun() {
        return queue.isOverrun();
    }

    @Override
    public boolean appendOnly() {
        return appendOnly;
    }

    @Override
    public Optional<EpochChanges> next(long timeoutMicros) {
        return open.next(() -> nextOfInterest(timeoutMicros));
    }

    private Optional<EpochChanges> nextOfInterest(long timeoutMicros) {
        // The state is read before the queue: a query that ended puts nothing into the queue any more.
        QueryState state = query.state();
        Optional<EpochChanges> next = queue.next(timeoutMicros);
        while (next.isPresent()
                && next.get().batches().isEmpty()
                && next.get().droppedRows() == 0
                && !form.progress()) {
            next.get().close();
            next = queue.next(0);
        }
        next.ifPresent(epoch -> StandingChanges.tellOfGap(epoch, notices));
        if (next.isEmpty() && state == QueryState.FAILED) {
            throw query.failure().orElseThrow();
        }
        return next;
    }

    @Override
    public boolean isFinished() {
        QueryState state = query.state();
        return (state == QueryState.FINISHED || state == QueryState.DROPPED) && queue.isEmpty();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            open.close();
            queue.abandon();
            try {
                query.drop();
            } finally {
                onClose.run();
            }
        }
    }
}
