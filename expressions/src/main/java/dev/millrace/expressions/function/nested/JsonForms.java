package dev.millrace.expressions.function.nested;

import static dev.millrace.json.JsonScan.NONE;

import dev.millrace.expressions.function.Text;
import dev.millrace.json.JsonScan;
import dev.millrace.text.TextBuffer;

/** Functions that write a JSONB in another form, item by item and in its order. */
public final class JsonForms {
    private JsonForms() {}

    /** Without members whose value is null. */
    public static void stripNulls(long json, int length, Text out) {
        TextBuffer buffer = out.begin();
        strip(buffer, json, json + length);
        out.written();
    }

    private static void strip(TextBuffer out, long json, long limit) {
        boolean object = JsonScan.isObject(json);
        if (!object && !JsonScan.isArray(json)) {
            out.append(json, (int) (JsonScan.end(json, limit) - json));
            return;
        }
        out.append(object ? '{' : '[');
        boolean first = true;
        for (long at = JsonScan.first(json); at != NONE; ) {
            long item = object ? JsonScan.valueOf(JsonScan.keyEnd(at)) : at;
            if (!object || !JsonScan.isNull(item)) {
                if (!first) {
                    out.appendAscii(", ");
                }
                first = false;
                out.append(at, (int) (item - at));
                strip(out, item, limit);
            }
            at = JsonScan.next(JsonScan.end(item, limit));
        }
        out.append(object ? '}' : ']');
    }

    /** On several lines, indented by four blanks. */
    public static void pretty(long json, int length, Text out) {
        TextBuffer buffer = out.begin();
        pretty(buffer, json, json + length, 0);
        out.written();
    }

    private static void pretty(TextBuffer out, long json, long limit, int depth) {
        boolean object = JsonScan.isObject(json);
        if (!object && !JsonScan.isArray(json)) {
            out.append(json, (int) (JsonScan.end(json, limit) - json));
            return;
        }
        out.append(object ? '{' : '[');
        boolean first = true;
        for (long at = JsonScan.first(json); at != NONE; ) {
            if (!first) {
                out.append(',');
            }
            first = false;
            newLine(out, depth + 1);
            long item = object ? JsonScan.valueOf(JsonScan.keyEnd(at)) : at;
            out.append(at, (int) (item - at));
            pretty(out, item, limit, depth + 1);
            at = JsonScan.next(JsonScan.end(item, limit));
        }
        newLine(out, depth);
        out.append(object ? '}' : ']');
    }

    private static void newLine(TextBuffer out, int depth) {
        out.append('\n');
        for (int i = 0; i < depth; i++) {
            out.appendAscii("    ");
        }
    }
}
