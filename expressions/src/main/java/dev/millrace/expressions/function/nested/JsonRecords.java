package dev.millrace.expressions.function.nested;

import static dev.millrace.json.JsonScan.NONE;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Text;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.json.JsonScan;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.ValueWriter;
import java.nio.charset.StandardCharsets;

/** What JSONB values are on their way into the columns of a row type: {@code jsonb_populate_record}, {@code jsonb_to_record}. */
public final class JsonRecords {
    private JsonRecords() {}

    /** A value if it is an object, NULL if it is JSON's null; 22023 for all else, which has no columns. */
    public static boolean object(long json, int length, long function, int functionLength, Text out) {
        if (JsonScan.isNull(json)) {
            return false;
        }
        if (!JsonScan.isObject(json)) {
            byte[] name = new byte[functionLength];
            Memory.copyOut(function, name, 0, functionLength);
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "cannot call " + new String(name, StandardCharsets.UTF_8) + " on "
                            + (JsonScan.isArray(json) ? "an array" : "a scalar"));
        }
        out.slice(json, length);
        return true;
    }

    /**
     * The text of an array as the input of arrays has it, whose elements are texts at so many dimensions, or JSON. A string is that text
     * itself; NULL for JSON's null; 22P02 for all else that is no array.
     */
    public static boolean arrayText(long json, int length, int dimensions, boolean ofJson, Text out) {
        if (JsonScan.isNull(json)) {
            return false;
        }
        TextBuffer buffer = out.begin();
        if (JsonScan.isString(json)) {
            JsonScan.string(buffer, json);
        } else {
            array(buffer, json, json + length, dimensions, ofJson);
        }
        out.written();
        return true;
    }

    private static void array(TextBuffer out, long json, long limit, int dimensions, boolean ofJson) {
        if (!JsonScan.isArray(json)) {
            throw MillraceException.user(SqlState.INVALID_TEXT_REPRESENTATION, "expected JSON array");
        }
        out.append('{');
        int count = 0;
        for (long at = JsonScan.first(json); at != NONE; ) {
            Interrupt.checkSometimes(++count);
            out.appendAscii(count > 1 ? "," : "");
            long end = JsonScan.end(at, limit);
            if (dimensions > 1) {
                array(out, at, limit, dimensions - 1, ofJson);
            } else {
                element(out, at, end, ofJson);
            }
            at = JsonScan.next(end);
        }
        out.append('}');
    }

    private static void element(TextBuffer out, long at, long end, boolean ofJson) {
        if (JsonScan.isNull(at)) {
            out.appendAscii("NULL");
            return;
        }
        long start = out.length();
        if (JsonScan.isString(at) && !ofJson) {
            JsonScan.string(out, at);
        } else {
            out.append(at, (int) (end - at));
        }
        ValueWriter.quoteFrom(out, start, true);
    }
}
