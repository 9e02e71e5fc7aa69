package dev.millrace.expressions.function.jsonpath;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Pattern;
import dev.millrace.expressions.function.Text;
import dev.millrace.expressions.function.jsonpath.JsonPath.Nothing;
import dev.millrace.expressions.function.jsonpath.JsonPath.Part;
import dev.millrace.expressions.function.jsonpath.PathEvaluation.Failure;
import dev.millrace.expressions.function.regex.Regex;
import dev.millrace.expressions.function.regex.RegexMatcher;
import dev.millrace.json.JsonScan;
import dev.millrace.json.JsonStrings;
import dev.millrace.nested.ImageWriter;
import dev.millrace.text.TextBuffer;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Functions of a JSON value and a path, which is parsed when it changes: once, if it is a literal. {@code silent} makes
 * failures NULL, or nothing.
 */
public final class JsonPathCall implements AutoCloseable {
    private final Pattern text = new Pattern();
    private final TextBuffer scratch;
    private final Map<Regex, RegexMatcher> matchers = new IdentityHashMap<>(); // of the path
    private Optional<JsonPath> path = Optional.empty();

    public JsonPathCall(BufferAllocator allocator) {
        scratch = new TextBuffer(allocator, 64);
    }

    public void prepare(long address, int length) {
        if (text.changed(address, length)) {
            text.forget();
            path = Optional.of(PathParser.parse(text.text()));
            matchers.clear();
            text.remember();
        }
    }

    private RegexMatcher matcher(Regex regex) {
        return matchers.computeIfAbsent(regex, RegexMatcher::new);
    }

    /** Empty when it fails silently. */
    private Optional<List<Object>> found(long json, int length, long variables, int variablesLength, boolean silent) {
        if (!JsonScan.isObject(variables)) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "\"vars\" argument is not an object")
                    .withHint("Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.");
        }
        Part all = new Part(variables, variables + variablesLength);
        try {
            return Optional.of(new PathEvaluation(
                            path.orElseThrow(),
                            PathEvaluation.item(json, json + length),
                            Optional.of(all),
                            scratch,
                            this::matcher,
                            length)
                    .items());
        } catch (StackOverflowError e) {
            throw PathParser.tooDeep();
        } catch (Failure e) {
            if (silent) {
                return Optional.empty();
            }
            throw e.error();
        }
    }

    /** The path in its normal form: what a value of the type JSONPATH is. */
    public void normal(Text out) {
        TextBuffer buffer = out.begin();
        buffer.append(NormalPath.of(path.orElseThrow()).getBytes(StandardCharsets.UTF_8));
        out.written();
    }

    /** {@code jsonb_path_query}: an array to be unnested. */
    public void query(long json, int length, long variables, int variablesLength, boolean silent, Text out) {
        List<Object> items =
                found(json, length, variables, variablesLength, silent).orElse(List.of());
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, items.size());
        for (Object item : items) {
            ImageWriter.some(buffer);
            long lengthAt = buffer.length();
            ImageWriter.int32(buffer, 0);
            write(buffer, item);
            ImageWriter.patchInt32(buffer, lengthAt, (int) (buffer.length() - lengthAt - 4));
        }
        out.written();
    }

    /** {@code jsonb_path_query_array}. */
    public void array(long json, int length, long variables, int variablesLength, boolean silent, Text out) {
        List<Object> items =
                found(json, length, variables, variablesLength, silent).orElse(List.of());
        TextBuffer buffer = out.begin();
        buffer.append('[');
        for (int i = 0; i < items.size(); i++) {
            buffer.appendAscii(i > 0 ? ", " : "");
            write(buffer, items.get(i));
        }
        buffer.append(']');
        out.written();
    }

    /** {@code jsonb_path_query_first}; NULL when nothing is found. */
    public boolean first(long json, int length, long variables, int variablesLength, boolean silent, Text out) {
        Optional<List<Object>> items = found(json, length, variables, variablesLength, silent);
        return items.isPresent()
                && !items.get().isEmpty()
                && written(items.get().get(0), out);
    }

    /** {@code jsonb_path_exists}, as JSON. */
    public boolean exists(long json, int length, long variables, int variablesLength, boolean silent, Text out) {
        Optional<List<Object>> items = found(json, length, variables, variablesLength, silent);
        return items.isPresent() && written(!items.get().isEmpty(), out);
    }

    /** {@code jsonb_path_match}, as JSON: what a predicate says. */
    public boolean match(long json, int length, long variables, int variablesLength, boolean silent, Text out) {
        Optional<List<Object>> items = found(json, length, variables, variablesLength, silent);
        if (items.isPresent() && items.get().size() == 1) {
            Object only = items.get().get(0);
            if (only instanceof Boolean) {
                return written(only, out);
            } else if (only == Nothing.NULL) {
                return false;
            }
        }
        if (silent) {
            return false;
        }
        throw MillraceException.user(SqlState.SINGLETON_JSON_ITEM_REQUIRED, "single boolean result is expected");
    }

    private static boolean written(Object item, Text out) {
        write(out.begin(), item);
        out.written();
        return true;
    }

    private static void write(TextBuffer out, Object item) {
        if (item instanceof Part part) {
            out.append(part.at(), (int) (JsonScan.end(part.at(), part.limit()) - part.at()));
        } else if (item instanceof String string) {
            long start = out.length();
            out.append(string.getBytes(StandardCharsets.UTF_8));
            JsonStrings.quoteFrom(out, start);
        } else if (item instanceof BigDecimal number) {
            out.appendAscii(number.toPlainString());
        } else {
            out.appendAscii(item == Nothing.NULL ? "null" : item.toString());
        }
    }

    @Override
    public void close() {
        scratch.close();
    }
}
