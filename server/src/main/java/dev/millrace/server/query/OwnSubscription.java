package dev.millrace.server.query;

import dev.millrace.engine.runtime.QueryGroup;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.type.Schema;
import java.util.Optional;

/** A subscription to a query that is there for it alone, as a member of a group: the query is dropped with it, however it ends. */
final class OwnSubscription implements Subscription {
    private final StandingQuery query;
    private final Subscription subscription;

    private OwnSubscription(StandingQuery query, Subscription subscription) {
        this.query = query;
        this.subscription = subscription;
    }

    /** Takes both over. */
    static OwnSubscription of(QueryGroup.Subscribed subscribed) {
        return new OwnSubscription(subscribed.query(), subscribed.subscription());
    }

    /** Whatever stops the statement: what was started for it must not stay. */
    private static void drop(StandingQuery query) {
        try (Interrupt.Binding whole = Interrupt.shield()) {
            query.drop();
        }
    }

    @Override
    public Schema schema() {
        return subscription.schema();
    }

    @Override
    public Optional<EpochChanges> next(long timeoutMicros) {
        return subscription.next(timeoutMicros);
    }

    @Override
    public boolean isFinished() {
        return subscription.isFinished();
    }

    @Override
    public boolean isOverrun() {
        return subscription.isOverrun();
    }

    @Override
    public void close() {
        try {
            subscription.close();
        } finally {
            drop(query);
        }
    }
}
