package dev.millrace.expressions.user;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;

/** What users' classes call, without knowing, once {@link GuardedClasses} has been over them. */
public final class UserGuard {
    /** Whether a call is to end somewhere: rarely, so that a look at it is all that a loop pays. Written by the watch. */
    static volatile boolean late;

    private UserGuard() {}

    /** At the beginning of methods, and wherever code goes back. */
    public static void check() {
        if (late) {
            UserWatch.check();
        }
    }

    /** In the place of {@code System.exit}. */
    public static void exit(int status) {
        throw new UserStopped(MillraceException.user(
                SqlState.EXTERNAL_ROUTINE_EXCEPTION, "a function called System.exit, which would end the server"));
    }

    /** In the place of {@code Runtime.exit} and {@code Runtime.halt}. */
    public static void exit(Runtime runtime, int status) {
        exit(status);
    }
}
