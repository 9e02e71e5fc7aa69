package dev.millrace.expressions.user;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.wasm.WasmCode;
import dev.millrace.type.DataType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The modules of WebAssembly of this process by the hash of their bytes, each compiled once, as {@link UserCode} has jars. Functions in
 * them have their places in {@link UserCode}'s names: what is behind the {@code !} is {@code wasm:}, or {@code wasm64:} of one that
 * is in the definition itself, and the export. Safe on any thread.
 */
public final class UserModules {
    /** How all modules begin in base64: {@code \0asm}. */
    private static final String BASE64_MAGIC = "AGFzbQ";

    private static final String FILE = "wasm:";
    private static final String INLINE = "wasm64:";

    private static final Map<String, WasmCode> MODULES = new ConcurrentHashMap<>();

    private UserModules() {}

    /** Whether a text of a definition is a module in base64, and not the path of one. */
    public static boolean isInline(String definition) {
        return definition.startsWith(BASE64_MAGIC);
    }

    /**
     * The bytes of a module in base64, which may be broken into lines.
     *
     * @throws MillraceException 42P13 if it is no base64
     */
    public static byte[] inline(String definition) {
        try {
            return Base64.getMimeDecoder().decode(definition);
        } catch (IllegalArgumentException e) {
            throw MillraceException.user(
                    SqlState.INVALID_FUNCTION_DEFINITION, "the module is no base64: " + e.getMessage());
        }
    }

    /**
     * The bytes of a module in a file, no more than it may have and one.
     *
     * @throws MillraceException 58P01 when it cannot be read
     */
    public static byte[] read(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return in.readNBytes(WasmCode.MOST_BYTES + 1);
        } catch (IOException e) {
            throw MillraceException.user(
                    SqlState.UNDEFINED_FILE, "cannot read the module \"" + file + "\": " + e.getMessage());
        }
    }

    /**
     * The hash of a module, which is compiled unless one of the same bytes is.
     *
     * @throws MillraceException 42P13 if it is none, or asks for what it is not given
     */
    public static String load(byte[] bytes) {
        String hash = UserCode.hash(bytes);
        if (!MODULES.containsKey(hash)) {
            MODULES.put(hash, WasmCode.of(bytes));
        }
        return hash;
    }

    /** A plan's name of an exported function of a module from a file. */
    public static String fileKey(String function, String hash, String export) {
        return UserCode.key(function, hash, FILE + export);
    }

    /** The same of a module in the definition. */
    public static String inlineKey(String function, String hash, String export) {
        return UserCode.key(function, hash, INLINE + export);
    }

    /** Whether a plan's name is that of a function in a module. */
    public static boolean isIn(String key) {
        return UserCode.code(key).startsWith(FILE) || isInlineKey(key);
    }

    static boolean isInlineKey(String key) {
        return UserCode.code(key).startsWith(INLINE);
    }

    /**
     * Checks that a function can be called, so that CREATE FUNCTION fails rather than the first query.
     *
     * @throws MillraceException 42P13 if the export is not there or has other types; 38000 if the module does not start
     */
    public static void check(String key, List<DataType> arguments, DataType returns) {
        WasmCode code = module(key);
        code.check(export(key), arguments, returns);
        UserWatch.Call watched = UserWatch.enter(key);
        try {
            code.instantiate();
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError | LinkageError | AssertionError e) {
            MillraceException why = watched.why();
            throw why != null ? why : failed(key, e);
        } finally {
            watched.leave();
        }
    }

    /** The error of a function that failed: 38000, or 53200, with its name. */
    static MillraceException failed(String key, Throwable cause) {
        String message = "function " + UserCode.name(key) + " failed: " + WasmCode.reason(cause);
        return cause instanceof OutOfMemoryError
                ? MillraceException.resources(SqlState.OUT_OF_MEMORY, message)
                : MillraceException.user(SqlState.EXTERNAL_ROUTINE_EXCEPTION, message);
    }

    static String export(String key) {
        String code = UserCode.code(key);
        return code.substring(code.indexOf(':') + 1);
    }

    static WasmCode module(String key) {
        WasmCode code = MODULES.get(UserCode.jar(key));
        if (code == null) {
            throw MillraceException.user(
                    SqlState.UNDEFINED_FUNCTION, "the module of function " + UserCode.name(key) + " is not loaded");
        }
        return code;
    }
}
