package dev.millrace.json;

import dev.millrace.memory.Memory;
import dev.millrace.nested.Images;
import dev.millrace.nested.NestedText;
import dev.millrace.number.BignumBytes;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeRange;
import dev.millrace.type.DataType;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

/**
 * Writes values of other types as JSON in normal form, as PostgreSQL's {@code to_jsonb} does: numbers as numbers but for
 * NaN and infinities, timestamps in ISO 8601, arrays as arrays, rows as objects, everything else as strings.
 */
public final class JsonWriter {
    private JsonWriter() {}

    /** Appends an element or field, given by its image: {@code null} for a NULL. */
    public static void element(TextBuffer out, DataType type, long element) {
        if (type.kind() == DataType.Kind.NULL || Images.isNull(element)) {
            out.appendAscii("null");
        } else {
            value(out, type, element + 1);
        }
    }

    /** Appends a value, given by its image. */
    public static void value(TextBuffer out, DataType type, long value) {
        switch (type.kind()) {
            case BOOLEAN -> out.appendAscii(Memory.getByte(value) != 0 ? "true" : "false");
            case SMALLINT, INTEGER, BIGINT, NUMERIC, JSONB -> NestedText.write(out, type, value);
            case BIGNUM -> {
                long start = out.length();
                NestedText.write(out, type, value);
                if (!BignumBytes.isFinite(value + 4)) {
                    JsonStrings.quoteFrom(out, start);
                }
            }
            case REAL -> number(out, type, value, Memory.getFloat(value));
            case DOUBLE -> number(out, type, value, Memory.getDouble(value));
            case TIMESTAMP, TIMESTAMPTZ -> {
                out.append('"');
                long start = out.length();
                NestedText.write(out, type, value);
                JsonStrings.isoFrom(out, start);
                boolean hasOffset =
                        type.kind() == DataType.Kind.TIMESTAMPTZ && TimeRange.isFinite(Memory.getLong(value));
                out.appendAscii(hasOffset ? ":00\"" : "\"");
            }
            case ARRAY -> {
                out.append('[');
                long at = Images.elements(value);
                for (int i = 0; i < Images.count(value); i++) {
                    if (i > 0) {
                        out.appendAscii(", ");
                    }
                    element(out, type.element(), at);
                    at = Images.behind(type.element(), at);
                }
                out.append(']');
            }
            case ROW -> row(out, type, value);
            default -> {
                long start = out.length();
                NestedText.write(out, type, value);
                JsonStrings.quoteFrom(out, start);
            }
        }
    }

    /** JSON has no exponent in its normal form, no NaN and no infinity. */
    private static void number(TextBuffer out, DataType type, long value, double number) {
        long start = out.length();
        NestedText.write(out, type, value);
        if (!(Math.abs(number) <= Double.MAX_VALUE)) {
            JsonStrings.quoteFrom(out, start);
            return;
        }
        for (long at = out.address() + start; at < out.address() + out.length(); at++) {
            if (Memory.getByte(at) == 'e') {
                byte[] text = new byte[(int) (out.length() - start)];
                Memory.copyOut(out.address() + start, text, 0, text.length);
                out.truncate(start);
                String digits = new String(text, StandardCharsets.US_ASCII);
                out.appendAscii(new java.math.BigDecimal(digits).toPlainString());
                return;
            }
        }
        if (number == 0) {
            out.truncate(start);
            out.append('0');
        }
    }

    /** Members in the order of the normal form; of fields with one name the last. */
    private static void row(TextBuffer out, DataType type, long row) {
        int count = type.fields().size();
        long[] places = new long[count];
        long at = row;
        for (int i = 0; i < count; i++) {
            places[i] = at;
            at = Images.behind(type.fields().get(i).type(), at);
        }
        out.append('{');
        boolean first = true;
        for (int i : order(type)) {
            if (!first) {
                out.appendAscii(", ");
            }
            first = false;
            key(out, type.fields().get(i).name());
            element(out, type.fields().get(i).type(), places[i]);
        }
        out.append('}');
    }

    /** Appends a key with quotes, colon and blank. */
    public static void key(TextBuffer out, String name) {
        long start = out.length();
        out.append(name.getBytes(StandardCharsets.UTF_8));
        JsonStrings.quoteFrom(out, start);
        out.appendAscii(": ");
    }

    /** The fields of a row type as they are printed. */
    private static List<Integer> order(DataType type) {
        TreeMap<byte[], Integer> byKey = new TreeMap<>(
                (a, b) -> a.length != b.length ? Integer.compare(a.length, b.length) : Arrays.compareUnsigned(a, b));
        for (int i = 0; i < type.fields().size(); i++) {
            byKey.put(type.fields().get(i).name().getBytes(StandardCharsets.UTF_8), i);
        }
        return List.copyOf(byKey.values());
    }
}
