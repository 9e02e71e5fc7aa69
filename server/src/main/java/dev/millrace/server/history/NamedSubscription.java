package dev.millrace.server.history;

import java.util.Optional;

/**
 * A durable subscription.
 *
 * @param owner the role that made it
 * @param limitBytes of changes that may be there and not acknowledged
 * @param acknowledgedMicros all changes up to this time were seen
 * @param broken why its changes are not kept any more
 */
public record NamedSubscription(
        String name, String owner, long limitBytes, long acknowledgedMicros, Optional<String> broken) {
    NamedSubscription acknowledged(long micros) {
        return new NamedSubscription(name, owner, limitBytes, Math.max(acknowledgedMicros, micros), broken);
    }

    NamedSubscription brokenBy(String why) {
        return new NamedSubscription(name, owner, limitBytes, acknowledgedMicros, Optional.of(why));
    }
}
