package dev.millrace.sql.statement;

import java.util.Optional;
import java.util.OptionalLong;

/** Statements about durable subscriptions. */
public sealed interface SubscriptionStatement extends Statement.TableStatement {
    /**
     * CREATE SUBSCRIPTION .. FROM.
     *
     * @param limitBytes of changes that may be there and not acknowledged; none is for the server to choose
     * @param retention how long changes are to be kept, as RisingWave's statements say it; they are kept until they are acknowledged
     */
    record CreateSubscription(
            String name, boolean ifNotExists, String query, OptionalLong limitBytes, Optional<String> retention)
            implements SubscriptionStatement {}

    /** DROP SUBSCRIPTION. */
    record DropSubscription(String name, boolean ifExists) implements SubscriptionStatement {}

    /**
     * ALTER SUBSCRIPTION .. ACKNOWLEDGE.
     *
     * @param micros since 1970 UTC: all changes up to this time were seen
     */
    record AlterSubscription(String name, long micros) implements SubscriptionStatement {}
}
