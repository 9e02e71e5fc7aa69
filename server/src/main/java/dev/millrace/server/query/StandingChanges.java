package dev.millrace.server.query;

import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.server.cancellation.Cancellation;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.ChangeRows;
import dev.millrace.type.Schema;
import java.util.Optional;
import java.util.function.Consumer;

/** A subscription to a query that runs anyway. */
final class StandingChanges implements StatementResult.Changes {
    private final Subscription subscription;
    private final ChangeRows.Form form;
    private final boolean appendOnly;
    private final OpenChanges open;
    private final Consumer<String> notices;

    StandingChanges(
            Subscription subscription,
            ChangeRows.Form form,
            boolean appendOnly,
            Cancellation cancellation,
            Consumer<String> notices) {
        this.subscription = subscription;
        this.form = form;
        this.appendOnly = appendOnly;
        this.open = new OpenChanges(cancellation);
        this.notices = notices;
    }

    @Override
    public Schema schema() {
        return subscription.schema();
    }

    @Override
    public ChangeRows.Form form() {
        return form;
    }

    @Override
    public boolean appendOnly() {
        return appendOnly;
    }

    @Override
    public Optional<EpochChanges> next(long timeoutMicros) {
        Optional<EpochChanges> next = open.next(() -> subscription.next(timeoutMicros));
        next.ifPresent(epoch -> tellOfGap(epoch, notices));
        return next;
    }

    static void tellOfGap(EpochChanges epoch, Consumer<String> notices) {
        if (epoch.droppedRows() > 0) {
            notices.accept("the subscriber is slow: " + epoch.droppedRows() + " rows were dropped");
        }
    }

    @Override
    public boolean isOverrun() {
        return subscription.isOverrun();
    }

    @Override
    public boolean isFinished() {
        return subscription.isFinished();
    }

    @Override
    public void close() {
        open.close();
        subscription.close();
    }
}
