package dev.millrace.expressions.function.nested;

import static dev.millrace.json.JsonScan.NONE;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Text;
import dev.millrace.json.JsonScan;
import dev.millrace.nested.ImageWriter;
import dev.millrace.text.TextBuffer;

/** The parts of a JSONB value as an array, to be unnested. */
public final class JsonParts {
    private JsonParts() {}

    /** {@code jsonb_array_elements}. */
    public static void elements(long json, int length, Text out) {
        parts(json, length, out, "jsonb_array_elements", false, true, false);
    }

    /** {@code jsonb_array_elements_text}. */
    public static void elementsText(long json, int length, Text out) {
        parts(json, length, out, "jsonb_array_elements_text", false, true, true);
    }

    /** {@code jsonb_object_keys}. */
    public static void keys(long json, int length, Text out) {
        parts(json, length, out, "jsonb_object_keys", true, false, false);
    }

    /** {@code jsonb_each}: rows of a key and a value. */
    public static void entries(long json, int length, Text out) {
        parts(json, length, out, "jsonb_each", true, true, false);
    }

    /** {@code jsonb_each_text}. */
    public static void entriesText(long json, int length, Text out) {
        parts(json, length, out, "jsonb_each_text", true, true, true);
    }

    private static void parts(
            long json, int length, Text out, String function, boolean keys, boolean values, boolean asText) {
        if (keys ? !JsonScan.isObject(json) : !JsonScan.isArray(json)) {
            throw wrongKind(json, function, keys);
        }
        long limit = json + length;
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, 0);
        int count = 0;
        for (long at = JsonScan.first(json); at != NONE; count++) {
            if (keys && values) {
                ImageWriter.some(buffer); // the row
            }
            long value = at;
            if (keys) {
                text(buffer, at);
                value = JsonScan.valueOf(JsonScan.keyEnd(at));
            }
            long end = JsonScan.end(value, limit);
            if (values) {
                value(buffer, value, end, asText);
            }
            at = JsonScan.next(end);
        }
        ImageWriter.patchInt32(buffer, 0, count);
        out.written();
    }

    private static void value(TextBuffer out, long value, long end, boolean asText) {
        if (asText && JsonScan.isNull(value)) {
            ImageWriter.nothing(out);
        } else if (asText && JsonScan.isString(value)) {
            text(out, value);
        } else {
            ImageWriter.some(out);
            ImageWriter.bytes(out, value, (int) (end - value));
        }
    }

    private static void text(TextBuffer out, long string) {
        ImageWriter.some(out);
        long lengthAt = out.length();
        ImageWriter.int32(out, 0);
        JsonScan.string(out, string);
        ImageWriter.patchInt32(out, lengthAt, (int) (out.length() - lengthAt - 4));
    }

    private static MillraceException wrongKind(long json, String function, boolean object) {
        String kind = JsonFunctions.kind(json);
        String message;
        if (object) {
            message = "cannot call " + function + " on " + (kind.equals("array") ? "an array" : "a scalar");
        } else {
            message = "cannot extract elements from " + (kind.equals("object") ? "an object" : "a scalar");
        }
        return MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, message);
    }
}
