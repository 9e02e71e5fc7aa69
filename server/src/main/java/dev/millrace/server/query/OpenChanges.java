package dev.millrace.server.query;

import dev.millrace.error.MillraceException;
import dev.millrace.server.cancellation.Cancellation;
import dev.millrace.server.cancellation.Failures;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The steps in which an open subscription is read. A cancel that comes between two of them, when nothing is under way, fails
 * the next: the statement it is meant for lasts until the subscription is closed.
 */
final class OpenChanges {
    private final Cancellation cancellation;
    private volatile Optional<MillraceException> cancelled =
            Optional.empty(); // written by who cancels, read by the session's thread

    OpenChanges(Cancellation cancellation) {
        this.cancellation = cancellation;
        cancellation.open(why -> cancelled = Optional.of(why));
    }

    /** Runs the next step; errors come as those of the session do. */
    <T> T next(Supplier<T> step) {
        return Failures.translate(() -> cancellation.run(() -> {
            if (cancelled.isPresent()) {
                throw cancelled.get();
            }
            return step.get();
        }));
    }

    void close() {
        cancellation.closed();
    }
}
