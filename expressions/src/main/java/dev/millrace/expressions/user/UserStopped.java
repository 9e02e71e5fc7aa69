package dev.millrace.expressions.user;

import dev.millrace.error.MillraceException;

/** Ends a user's code from within: an Error, since code that catches exceptions and goes on is just what has to be ended. */
final class UserStopped extends Error {
    private static final long serialVersionUID = 1L;

    private final transient MillraceException why;

    UserStopped(MillraceException why) {
        super(why.getMessage(), null, false, false);
        this.why = why;
    }

    MillraceException why() {
        return why;
    }
}
