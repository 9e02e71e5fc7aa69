package dev.millrace.expressions.function.nested;

import static dev.millrace.json.JsonScan.NONE;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Text;
import dev.millrace.json.JsonScan;
import dev.millrace.memory.Memory;
import dev.millrace.nested.Images;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;

/** Functions that look into JSONB. Results are slices of their argument wherever that can be. */
public final class JsonFunctions {
    private JsonFunctions() {}

    // ---- parts -----------------------------------------------------------------------------------------------------

    private static long member(long json, int length, long key, int keyLength) {
        return JsonScan.isObject(json) ? JsonScan.member(json, json + length, key, keyLength) : NONE;
    }

    private static long element(long json, int length, int index) {
        return JsonScan.isArray(json) ? JsonScan.element(json, json + length, index) : NONE;
    }

    private static boolean slice(long part, long limit, Text out) {
        if (part == NONE) {
            return false;
        }
        out.slice(part, (int) (JsonScan.end(part, limit) - part));
        return true;
    }

    private static boolean text(long part, long limit, Text out) {
        if (part == NONE || JsonScan.isNull(part)) {
            return false;
        }
        if (!JsonScan.isString(part)) {
            return slice(part, limit, out);
        }
        JsonScan.string(out.begin(), part);
        out.written();
        return true;
    }

    /** {@code json -> 'key'}. */
    public static boolean get(long json, int length, long key, int keyLength, Text out) {
        return slice(member(json, length, key, keyLength), json + length, out);
    }

    /** {@code json -> index}, from the end when negative. */
    public static boolean get(long json, int length, int index, Text out) {
        return slice(element(json, length, index), json + length, out);
    }

    /** {@code json ->> 'key'}. */
    public static boolean getText(long json, int length, long key, int keyLength, Text out) {
        return text(member(json, length, key, keyLength), json + length, out);
    }

    /** {@code json ->> index}. */
    public static boolean getText(long json, int length, int index, Text out) {
        return text(element(json, length, index), json + length, out);
    }

    /** {@code json #> path}. */
    public static boolean at(long json, int length, long path, int pathLength, Text out) {
        return slice(find(json, length, path), json + length, out);
    }

    /** {@code json #>> path}. */
    public static boolean atText(long json, int length, long path, int pathLength, Text out) {
        return text(find(json, length, path), json + length, out);
    }

    private static long find(long json, int length, long path) {
        long limit = json + length;
        long at = json;
        long step = Images.elements(path);
        for (int left = Images.count(path); left > 0 && at != NONE; left--) {
            if (Images.isNull(step)) {
                return NONE;
            }
            long text = step + 5;
            int bytes = Memory.getInt(step + 1);
            if (JsonScan.isObject(at)) {
                at = JsonScan.member(at, limit, text, bytes);
            } else if (JsonScan.isArray(at)) {
                int index = JsonEdits.index(text, bytes);
                at = index == JsonEdits.NO_INDEX ? NONE : JsonScan.element(at, limit, index);
            } else {
                return NONE;
            }
            step = Images.behind(DataType.TEXT, step);
        }
        return at;
    }

    // ---- tests -----------------------------------------------------------------------------------------------------

    /** {@code a @> b}: b's structure and values are within a's. */
    public static boolean contains(long a, int aLength, long b, int bLength) {
        if (JsonScan.isArray(a) && !JsonScan.isArray(b) && !JsonScan.isObject(b)) {
            return hasEqual(a, a + aLength, b, b + bLength); // an array contains a bare scalar
        }
        return within(a, a + aLength, b, b + bLength);
    }

    private static boolean within(long a, long aLimit, long b, long bLimit) {
        if (JsonScan.isObject(b)) {
            if (!JsonScan.isObject(a)) {
                return false;
            }
            for (long key = JsonScan.first(b); key != NONE; ) {
                long keyEnd = JsonScan.keyEnd(key);
                long value = JsonScan.valueOf(keyEnd);
                long other = memberLike(a, aLimit, key, keyEnd);
                if (other == NONE || !within(other, aLimit, value, bLimit)) {
                    return false;
                }
                key = JsonScan.next(JsonScan.end(value, bLimit));
            }
            return true;
        }
        if (JsonScan.isArray(b)) {
            if (!JsonScan.isArray(a)) {
                return false;
            }
            for (long item = JsonScan.first(b); item != NONE; ) {
                boolean nested = JsonScan.isArray(item) || JsonScan.isObject(item);
                if (nested ? !hasContaining(a, aLimit, item, bLimit) : !hasEqual(a, aLimit, item, bLimit)) {
                    return false;
                }
                item = JsonScan.next(JsonScan.end(item, bLimit));
            }
            return true;
        }
        return equal(a, aLimit, b, bLimit);
    }

    private static long memberLike(long object, long limit, long key, long keyEnd) {
        for (long at = JsonScan.first(object); at != NONE; ) {
            long end = JsonScan.keyEnd(at);
            if (end - at == keyEnd - key && Memory.equal(at, key, (int) (keyEnd - key))) {
                return JsonScan.valueOf(end);
            }
            at = JsonScan.next(JsonScan.end(JsonScan.valueOf(end), limit));
        }
        return NONE;
    }

    private static boolean hasEqual(long array, long limit, long value, long valueLimit) {
        for (long at = JsonScan.first(array); at != NONE; ) {
            if (equal(at, limit, value, valueLimit)) {
                return true;
            }
            at = JsonScan.next(JsonScan.end(at, limit));
        }
        return false;
    }

    private static boolean hasContaining(long array, long limit, long value, long valueLimit) {
        for (long at = JsonScan.first(array); at != NONE; ) {
            if (within(at, limit, value, valueLimit)) {
                return true;
            }
            at = JsonScan.next(JsonScan.end(at, limit));
        }
        return false;
    }

    /** Whether two scalars are equal: numbers by their values, as 25 and 25.0 are. */
    private static boolean equal(long a, long aLimit, long b, long bLimit) {
        int aLength = (int) (JsonScan.end(a, aLimit) - a);
        int bLength = (int) (JsonScan.end(b, bLimit) - b);
        return aLength == bLength && Memory.equal(a, b, aLength)
                || isNumber(a) && isNumber(b) && number(a, aLength).compareTo(number(b, bLength)) == 0;
    }

    private static boolean isNumber(long value) {
        byte first = Memory.getByte(value);
        return first == '-' || first >= '0' && first <= '9';
    }

    private static BigDecimal number(long value, int length) {
        byte[] bytes = new byte[length];
        Memory.copyOut(value, bytes, 0, length);
        return new BigDecimal(new String(bytes, StandardCharsets.US_ASCII));
    }

    /** {@code json ? 'key'}: a member's key, or a string of an array. */
    public static boolean has(long json, int length, long key, int keyLength) {
        if (JsonScan.isObject(json)) {
            return JsonScan.member(json, json + length, key, keyLength) != NONE;
        }
        if (!JsonScan.isArray(json)) {
            return JsonScan.isString(json) && stringEquals(json, key, keyLength);
        }
        for (long at = JsonScan.first(json); at != NONE; ) {
            if (JsonScan.isString(at) && stringEquals(at, key, keyLength)) {
                return true;
            }
            at = JsonScan.next(JsonScan.end(at, json + length));
        }
        return false;
    }

    private static boolean stringEquals(long string, long text, int length) {
        long end = JsonScan.keyEnd(string);
        byte[] bytes = new byte[length];
        Memory.copyOut(text, bytes, 0, length);
        return end - string == length + 2L
                ? Memory.equal(string + 1, text, length)
                : java.util.Arrays.equals(JsonScan.plain(string), bytes);
    }

    /** {@code json ?| keys}. */
    public static boolean hasAny(long json, int length, long keys, int keysLength) {
        return hasKeys(json, length, keys, true);
    }

    /** {@code json ?& keys}. */
    public static boolean hasAll(long json, int length, long keys, int keysLength) {
        return hasKeys(json, length, keys, false);
    }

    private static boolean hasKeys(long json, int length, long keys, boolean any) {
        long at = Images.elements(keys);
        for (int left = Images.count(keys); left > 0; left--) {
            if (!Images.isNull(at) && has(json, length, at + 5, Memory.getInt(at + 1)) == any) {
                return any;
            }
            at = Images.behind(DataType.TEXT, at);
        }
        return !any;
    }

    // ---- kinds -----------------------------------------------------------------------------------------------------

    static String kind(long json) {
        return switch (Memory.getByte(json)) {
            case '{' -> "object";
            case '[' -> "array";
            case '"' -> "string";
            case 't', 'f' -> "boolean";
            case 'n' -> "null";
            default -> "number";
        };
    }

    public static void typeOf(long json, int length, Text out) {
        out.begin().appendAscii(kind(json));
        out.written();
    }

    public static int arrayLength(long json, int length) {
        if (!JsonScan.isArray(json)) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "cannot get array length of " + (JsonScan.isObject(json) ? "a non-array" : "a scalar"));
        }
        return JsonScan.count(json, json + length);
    }

    /** The text of a number, which a cast to a number type reads. False for JSON's null; anything else fails. */
    public static boolean number(long json, int length, String target, Text out) {
        String kind = kind(json);
        if (!kind.equals("number") && !kind.equals("null")) {
            throw cannotCast(json, target);
        }
        out.slice(json, length);
        return kind.equals("number");
    }

    /** Whether a cast to BOOLEAN gives a value: false for JSON's null. Anything but that and a boolean fails. */
    public static boolean isBoolean(long json, int length) {
        String kind = kind(json);
        if (!kind.equals("boolean") && !kind.equals("null")) {
            throw cannotCast(json, "boolean");
        }
        return kind.equals("boolean");
    }

    /** Of a boolean. */
    public static boolean toBoolean(long json, int length) {
        return Memory.getByte(json) == 't';
    }

    private static MillraceException cannotCast(long json, String target) {
        String kind = kind(json);
        String shown = kind.equals("number") ? "numeric" : kind;
        return MillraceException.user(
                SqlState.INVALID_PARAMETER_VALUE, "cannot cast jsonb " + shown + " to type " + target);
    }

    /** The bytes of a text as a string, for messages. */
    static String shown(long text, int length) {
        byte[] bytes = new byte[length];
        Memory.copyOut(text, bytes, 0, length);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
