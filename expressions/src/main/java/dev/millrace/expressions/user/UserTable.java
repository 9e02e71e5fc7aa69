package dev.millrace.expressions.user;

import dev.millrace.udf.TableFunction;
import java.util.function.Consumer;

/** A user's table function. For one thread. */
public final class UserTable {
    private final String key;
    private final TableFunction function;

    /** @param key as {@link UserCode#key} gives it */
    public UserTable(String key) {
        this.key = key;
        this.function = UserCode.table(key);
    }

    /**
     * Gives the rows of some arguments, one after the other.
     *
     * @throws dev.millrace.error.MillraceException what the function throws, or that it was stopped
     */
    public void call(Object[] arguments, Consumer<Object[]> rows) {
        UserWatch.Call watched = UserWatch.enter(key);
        try {
            function.call(arguments, rows);
        } catch (Exception | LinkageError | StackOverflowError | AssertionError | UserStopped | OutOfMemoryError e) {
            throw UserCode.failed(key, e);
        } finally {
            watched.leave();
        }
    }
}
