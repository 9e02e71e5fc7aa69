package dev.millrace.server.session;

import dev.millrace.engine.runtime.EpochChanges;
import dev.millrace.engine.runtime.Subscription;
import dev.millrace.type.Schema;
import java.util.Optional;

/** A subscription to a query that runs anyway. */
final class StandingChanges implements StatementResult.Changes {
    private final Subscription subscription;
    private final boolean appendOnly;
    private final Cancellation cancellation;

    StandingChanges(Subscription subscription, boolean appendOnly, Cancellation cancellation) {
        this.subscription = subscription;
        this.appendOnly = appendOnly;
        this.cancellation = cancellation;
    }

    @Override
    public Schema schema() {
        return subscription.schema();
    }

    @Override
    public boolean appendOnly() {
        return appendOnly;
    }

    @Override
    public Optional<EpochChanges> next(long timeoutMicros) {
        return Failures.translate(() -> cancellation.run(() -> subscription.next(timeoutMicros)));
    }

    @Override
    public boolean isFinished() {
        return subscription.isFinished();
    }

    @Override
    public void close() {
        subscription.close();
    }
}
