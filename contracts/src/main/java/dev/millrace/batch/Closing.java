package dev.millrace.batch;

import dev.millrace.error.MillraceException;
import org.jspecify.annotations.Nullable;

/** Closes several things, all of them even when some fail. */
public final class Closing {
    private Closing() {}

    /** Closes each; the first failure is thrown at the end, the others suppressed in it. */
    public static void all(Iterable<? extends AutoCloseable> resources) {
        @Nullable Throwable failure = null;
        for (AutoCloseable resource : resources) {
            try {
                resource.close();
            } catch (Exception | AssertionError e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure instanceof RuntimeException runtime) {
            throw runtime;
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure != null) {
            throw MillraceException.internal("closing failed: " + failure.getMessage(), failure);
        }
    }
}
