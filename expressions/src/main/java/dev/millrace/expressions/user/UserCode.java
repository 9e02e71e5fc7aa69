package dev.millrace.expressions.user;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.Expression;
import dev.millrace.type.DataType;
import dev.millrace.udf.AggregateFunction;
import dev.millrace.udf.ScalarFunction;
import dev.millrace.udf.TableFunction;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.MalformedURLException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The jars of this process by the hash of their bytes. A jar that is given again, under whatever path, is the one that is
 * there (code shared among queries: Pluto, dissertation ch. 3). Jars stay loaded: running queries may still call them
 * after DROP FUNCTION. Safe on any thread.
 */
public final class UserCode {
    /** How calls of users' functions are named in plans: this, the SQL name, @, the jar's hash, !, the class. */
    public static final String PREFIX = "user:";

    private static final Map<String, Jar> JARS = new ConcurrentHashMap<>();

    /** Functions of the program around the engine, by their names in plans. */
    private static final Map<String, Object> PROVIDED = new ConcurrentHashMap<>();

    private static final AtomicLong NEXT_PROVIDED = new AtomicLong();

    private UserCode() {}

    /**
     * Makes a function of the program around the engine known to plans until it is withdrawn. It is called by several
     * threads at once.
     *
     * @return its name in plans
     */
    public static String provide(String function, ScalarFunction code) {
        return provided(function, code);
    }

    /** The same of a function that gives rows. */
    public static String provide(String function, TableFunction code) {
        return provided(function, code);
    }

    private static String provided(String function, Object code) {
        String key = key(function, "provided", String.valueOf(NEXT_PROVIDED.getAndIncrement()));
        PROVIDED.put(key, code);
        return key;
    }

    /** The name of the function that has been at one call for long, of a query that this stops: it holds a thread. */
    public static Optional<String> stuckIn(Interrupt interrupt) {
        return UserWatch.stuckIn(interrupt);
    }

    /** Takes back what {@link #provide} made known; queries that call it fail from then on. */
    public static void withdraw(String key) {
        PROVIDED.remove(key);
    }

    /** What a class can be used as. */
    public enum Kind {
        SCALAR,
        AGGREGATE,
        TABLE
    }

    private record Jar(String hash, ClassLoader loader) {}

    /**
     * The hash of a jar, which is loaded unless a jar of the same bytes is.
     *
     * @throws MillraceException 58P01 when it cannot be read
     */
    public static String load(Path file) {
        byte[] bytes;
        try {
            bytes = Files.readAllBytes(file);
        } catch (IOException e) {
            throw MillraceException.user(
                    SqlState.UNDEFINED_FILE, "cannot read the jar \"" + file + "\": " + e.getMessage());
        }
        String hash = hash(bytes);
        JARS.computeIfAbsent(hash, key -> new Jar(key, loader(bytes)));
        return hash;
    }

    /** How many different jars are loaded. */
    public static int loaded() {
        return JARS.size();
    }

    static String hash(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw MillraceException.internal("this JVM has no SHA-256", e);
        }
    }

    /** Over a copy of its own, so that the file may change. */
    private static ClassLoader loader(byte[] bytes) {
        try {
            Path copy = Files.createTempFile("millrace-", ".jar");
            copy.toFile().deleteOnExit();
            Files.write(copy, bytes);
            return new GuardedClasses(copy.toUri().toURL(), UserCode.class.getClassLoader());
        } catch (MalformedURLException e) {
            throw MillraceException.internal("a temporary file has no address", e);
        } catch (IOException e) {
            throw MillraceException.external(SqlState.IO_ERROR, "cannot keep a copy of a jar: " + e.getMessage(), e);
        }
    }

    /** A plan's name of a function. */
    public static String key(String function, String hash, String className) {
        return PREFIX + function + "@" + hash + "!" + className;
    }

    /** The SQL name in a plan's name. */
    public static String name(String key) {
        return key.substring(PREFIX.length(), key.indexOf('@'));
    }

    /** The hash of the jar in a plan's name. */
    public static String jar(String key) {
        int at = key.lastIndexOf('@');
        return key.substring(at + 1, key.indexOf('!', at));
    }

    /** The hash of the file that has a function's code; none if its definition has it. */
    public static Optional<String> file(String key) {
        return UserModules.isInlineKey(key) || UserPython.isIn(key) ? Optional.empty() : Optional.of(jar(key));
    }

    /** What a function is within its jar or module: the class in a plan's name. */
    static String code(String key) {
        return withoutCall(key.substring(key.indexOf('!', key.lastIndexOf('@')) + 1));
    }

    /** What a function is written in: {@code java}, {@code wasm} or {@code python}. */
    public static String language(String key) {
        return UserModules.isIn(key) ? "wasm" : UserPython.isIn(key) ? "python" : "java";
    }

    /** A plan's name of a function, or of its class, without which of its calls it is. */
    private static String withoutCall(String name) {
        int call = name.indexOf(Expression.EACH_TIME);
        return call < 0 ? name : name.substring(0, call);
    }

    private static Optional<Object> provided(String key) {
        return Optional.ofNullable(PROVIDED.get(withoutCall(key)));
    }

    /** The class, and perhaps method, that a plan's name is about; 42883 when the jar or the class is not there. */
    private static Class<?> type(String key) {
        Jar jar = JARS.get(jar(key));
        if (jar == null) {
            throw MillraceException.user(
                    SqlState.UNDEFINED_FUNCTION, "the jar of function " + name(key) + " is not loaded");
        }
        String className = code(key);
        UserWatch.Call watched = UserWatch.enter(key); // a class may do anything when it is initialised
        try {
            return Class.forName(className, true, jar.loader());
        } catch (UserStopped e) {
            throw e.why();
        } catch (ClassNotFoundException | LinkageError e) {
            throw MillraceException.user(
                            SqlState.UNDEFINED_FUNCTION,
                            "class " + className + " of function " + name(key) + " cannot be loaded: " + e)
                    .withHint("AS 'path.jar', 'org.example.Class'");
        } finally {
            watched.leave();
        }
    }

    /**
     * What an aggregate lets its caller do with its states.
     *
     * @param retracts whether rows can be taken back
     * @param merges whether states can be put together
     */
    public record States(boolean retracts, boolean merges) {}

    /** How a function's states can be kept; empty if it is no aggregate, or they cannot be written. */
    public static Optional<States> states(String key) {
        if (!key.startsWith(PREFIX) || kind(key) != Kind.AGGREGATE) {
            return Optional.empty();
        }
        try {
            Object empty = aggregate(key).create();
            try (ObjectOutputStream out = new ObjectOutputStream(OutputStream.nullOutputStream())) {
                out.writeObject(empty);
            }
            return Optional.of(new States(overrides(key, "retract"), overrides(key, "merge")));
        } catch (IOException | RuntimeException | LinkageError e) {
            return Optional.empty(); // who calls it goes over rows, and is told if that fails, too
        }
    }

    private static boolean overrides(String key, String method) {
        return Arrays.stream(type(key).getMethods())
                .anyMatch(each -> each.getName().equals(method)
                        && each.getParameterCount() == 2
                        && !each.isBridge()
                        && each.getDeclaringClass() != AggregateFunction.class);
    }

    /** Who loads the classes of a function's jar. */
    static ClassLoader loader(String key) {
        return type(key).getClassLoader();
    }

    /** What a function's class can be used as. */
    public static Kind kind(String key) {
        Optional<Object> provided = provided(key);
        if (provided.isPresent()) {
            return provided.get() instanceof TableFunction ? Kind.TABLE : Kind.SCALAR;
        }
        if (UserModules.isIn(key) || UserPython.isIn(key)) {
            return Kind.SCALAR;
        }
        Class<?> type = type(key);
        return AggregateFunction.class.isAssignableFrom(type)
                ? Kind.AGGREGATE
                : TableFunction.class.isAssignableFrom(type) ? Kind.TABLE : Kind.SCALAR;
    }

    /**
     * A new scalar function of a class: one that implements {@link ScalarFunction}, or its public static method of the
     * SQL function's name, or its only one.
     *
     * @param arguments how many values it is given
     */
    static ScalarFunction scalar(String key, int arguments) {
        if (provided(key).orElse(key) instanceof ScalarFunction provided) {
            return provided;
        }
        Class<?> type = type(key);
        if (ScalarFunction.class.isAssignableFrom(type)) {
            return (ScalarFunction) make(key, type);
        }
        Method method = method(key, type, arguments);
        Class<?>[] parameters = method.getParameterTypes();
        return values -> {
            for (int i = 0; i < parameters.length; i++) {
                if (values[i] == null && parameters[i].isPrimitive()) {
                    return null; // as RETURNS NULL ON NULL INPUT
                }
            }
            try {
                return method.invoke(null, values);
            } catch (InvocationTargetException e) {
                if (e.getCause() instanceof UserStopped stopped) {
                    throw stopped;
                }
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
        };
    }

    private static Method method(String key, Class<?> type, int arguments) {
        List<Method> candidates = new ArrayList<>(Arrays.stream(type.getMethods())
                .filter(method -> Modifier.isStatic(method.getModifiers()))
                .filter(method -> method.getParameterCount() == arguments)
                .toList());
        List<Method> named = candidates.stream()
                .filter(method -> method.getName()
                        .replace("_", "")
                        .equalsIgnoreCase(name(key).replace("_", "")))
                .toList();
        List<Method> chosen = named.isEmpty() ? candidates : named;
        if (chosen.size() != 1) {
            throw MillraceException.user(
                            SqlState.UNDEFINED_FUNCTION,
                            "class " + type.getName() + " has " + (chosen.isEmpty() ? "no" : "several")
                                    + " public static methods of " + arguments + " parameters for function "
                                    + name(key))
                    .withHint("give it one named as the function, or implement dev.millrace.udf.ScalarFunction");
        }
        return chosen.get(0);
    }

    /** A new table function. */
    static TableFunction table(String key) {
        if (provided(key).orElse(key) instanceof TableFunction provided) {
            return provided;
        }
        return (TableFunction) make(key, type(key));
    }

    @SuppressWarnings("unchecked") // the state is only ever given back to the function that made it
    static AggregateFunction<Object> aggregate(String key) {
        return (AggregateFunction<Object>) make(key, type(key));
    }

    private static Object make(String key, Class<?> type) {
        UserWatch.Call call = UserWatch.enter(key);
        try {
            Constructor<?> constructor = type.getConstructor();
            return constructor.newInstance();
        } catch (UserStopped e) { // a constructor's is wrapped, that of what is loaded for it is not
            throw e.why();
        } catch (InvocationTargetException e) {
            throw failed(key, e);
        } catch (ReflectiveOperationException e) {
            throw MillraceException.user(
                    SqlState.UNDEFINED_FUNCTION,
                    "class " + type.getName() + " of function " + name(key)
                            + " has no public constructor without parameters");
        } finally {
            call.leave();
        }
    }

    /** Checks that a function can be made, so that CREATE FUNCTION fails rather than the first query. */
    public static void check(String key, List<DataType> arguments) {
        switch (kind(key)) {
            case SCALAR -> {
                scalar(key, arguments.size());
                if (!ScalarFunction.class.isAssignableFrom(type(key))) {
                    checkParameters(key, method(key, type(key), arguments.size()), arguments);
                }
            }
            case AGGREGATE -> aggregate(key);
            case TABLE -> table(key);
        }
    }

    private static void checkParameters(String key, Method method, List<DataType> arguments) {
        for (int i = 0; i < arguments.size(); i++) {
            Class<?> parameter =
                    MethodType.methodType(method.getParameterTypes()[i]).wrap().returnType();
            Class<?> given = JavaValues.javaType(arguments.get(i));
            if (!parameter.isAssignableFrom(given)) {
                throw MillraceException.user(
                        SqlState.DATATYPE_MISMATCH,
                        "parameter " + (i + 1) + " of method " + method.getName() + " of function " + name(key)
                                + " is a " + parameter.getName() + ", but a value of type " + arguments.get(i)
                                + " is a " + given.getName());
            }
        }
    }

    /** The error of a function that threw: 38000, with its name. */
    public static MillraceException failed(String key, Throwable thrown) {
        Throwable wrapped = thrown instanceof InvocationTargetException ? thrown.getCause() : null;
        Throwable cause = wrapped == null ? thrown : wrapped;
        if (cause instanceof MillraceException told) {
            return told;
        }
        if (cause instanceof UserStopped stopped) {
            return stopped.why();
        }
        if (cause instanceof ExceptionInInitializerError && cause.getCause() != null) {
            return failed(key, cause.getCause());
        }
        if (cause instanceof OutOfMemoryError) {
            return MillraceException.resources(
                    SqlState.OUT_OF_MEMORY, "function " + name(key) + " failed: " + cause.getMessage());
        }
        String message = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.toString();
        return MillraceException.user(
                SqlState.EXTERNAL_ROUTINE_EXCEPTION, "function " + name(key) + " failed: " + message);
    }
}
