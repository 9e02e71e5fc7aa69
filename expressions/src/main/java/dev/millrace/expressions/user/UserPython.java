package dev.millrace.expressions.user;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.python.PythonFunction;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.arrow.memory.RootAllocator;

/**
 * The functions in Python of this process by the hash of all that they are, as {@link UserCode} has jars. What is behind the {@code !} in
 * their names in plans is {@code python:} and the name in their source. Safe on any thread.
 */
public final class UserPython {
    private static final String MARK = "python:";

    private static final Map<String, PythonFunction> FUNCTIONS = new ConcurrentHashMap<>();

    private UserPython() {}

    /** Makes a function known; gives its name in plans. */
    public static String load(String name, PythonFunction function) {
        String all = String.join("\0", function.texts());
        String hash = UserCode.hash(all.getBytes(StandardCharsets.UTF_8));
        FUNCTIONS.putIfAbsent(hash, function);
        return UserCode.key(name, hash, MARK + function.entry());
    }

    /** Whether a plan's name is that of a function in Python. */
    public static boolean isIn(String key) {
        return UserCode.code(key).startsWith(MARK);
    }

    /**
     * Has a process define the function, so that CREATE FUNCTION fails rather than the first query.
     *
     * @throws MillraceException 38000 with what Python says of it, or if there is no Python
     */
    public static void check(String key) {
        try (RootAllocator allocator = new RootAllocator();
                PythonCall call = new PythonCall(key, allocator)) {
            call.call(List.of(), 0).close();
        }
    }

    static PythonFunction function(String key) {
        PythonFunction function = FUNCTIONS.get(UserCode.jar(key));
        if (function == null) {
            throw MillraceException.user(
                    SqlState.UNDEFINED_FUNCTION, "the source of function " + UserCode.name(key) + " is not loaded");
        }
        return function;
    }
}
