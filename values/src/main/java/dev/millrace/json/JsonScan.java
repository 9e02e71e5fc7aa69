package dev.millrace.json;

import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Walks through JSON text in normal form, by addresses. Nothing is checked: only normal forms may be passed. */
public final class JsonScan {
    /** What no part is found at. */
    public static final long NONE = 0;

    private JsonScan() {}

    /** Whether a value is an object. */
    public static boolean isObject(long value) {
        return Memory.getByte(value) == '{';
    }

    /** Whether a value is an array. */
    public static boolean isArray(long value) {
        return Memory.getByte(value) == '[';
    }

    /** Whether a value is a string. */
    public static boolean isString(long value) {
        return Memory.getByte(value) == '"';
    }

    /** Whether a value is the JSON null. */
    public static boolean isNull(long value) {
        return Memory.getByte(value) == 'n';
    }

    /** Behind a value that is no number. */
    private static long end(long value) {
        byte first = Memory.getByte(value);
        if (first == '"') {
            return endOfString(value);
        }
        if (first == '{' || first == '[') {
            int depth = 1;
            long at = value + 1;
            while (depth > 0) {
                byte c = Memory.getByte(at);
                if (c == '"') {
                    at = endOfString(at);
                    continue;
                }
                depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
                at++;
            }
            return at;
        }
        if (first == 't' || first == 'n') {
            return value + 4;
        }
        if (first == 'f') {
            return value + 5;
        }
        throw new IllegalArgumentException("a number's end depends on where the text ends");
    }

    private static long endOfString(long value) {
        long at = value + 1;
        while (true) {
            byte c = Memory.getByte(at++);
            if (c == '"') {
                return at;
            }
            if (c == '\\') {
                at++;
            }
        }
    }

    /** Behind a value that ends before {@code limit}, the end of the whole text. */
    public static long end(long value, long limit) {
        byte first = Memory.getByte(value);
        if (first != '-' && (first < '0' || first > '9')) {
            return end(value);
        }
        long at = value + 1;
        while (at < limit) {
            byte c = Memory.getByte(at);
            if (c != '.' && (c < '0' || c > '9')) {
                break;
            }
            at++;
        }
        return at;
    }

    /** The first element of an array or key of an object; {@link #NONE} when it is empty. */
    public static long first(long container) {
        byte c = Memory.getByte(container + 1);
        return c == ']' || c == '}' ? NONE : container + 1;
    }

    /** What follows a part that ends at {@code end}; {@link #NONE} when it was the last. */
    public static long next(long end) {
        return Memory.getByte(end) == ',' ? end + 2 : NONE;
    }

    /** The value of a key that ends at {@code keyEnd}. */
    public static long valueOf(long keyEnd) {
        return keyEnd + 2;
    }

    /** The value of the member with this key, given without quotes and escapes; {@link #NONE} without. */
    public static long member(long object, long limit, long key, int keyLength) {
        long at = first(object);
        while (at != NONE) {
            long keyEnd = endOfString(at);
            if (keyEquals(at + 1, (int) (keyEnd - at) - 2, key, keyLength)) {
                return valueOf(keyEnd);
            }
            at = next(end(valueOf(keyEnd), limit));
        }
        return NONE;
    }

    /** Whether a key as it stands in the text is that without escapes. */
    private static boolean keyEquals(long escaped, int escapedLength, long key, int keyLength) {
        if (escapedLength == keyLength) {
            return Memory.equal(escaped, key, keyLength); // equal lengths: equal, or there is an escape and it is not
        }
        if (escapedLength < keyLength || !hasEscape(escaped, escapedLength)) {
            return false;
        }
        byte[] plain = unescaped(escaped, escapedLength);
        if (plain.length != keyLength) {
            return false;
        }
        for (int i = 0; i < plain.length; i++) {
            if (plain[i] != Memory.getByte(key + i)) {
                return false;
            }
        }
        return true;
    }

    private static boolean hasEscape(long text, int length) {
        for (int i = 0; i < length; i++) {
            if (Memory.getByte(text + i) == '\\') {
                return true;
            }
        }
        return false;
    }

    /** Element {@code index} of an array, counted from its end when negative; {@link #NONE} when there is none. */
    public static long element(long array, long limit, int index) {
        long wanted = index < 0 ? (long) count(array, limit) + index : index;
        if (wanted < 0) {
            return NONE;
        }
        long at = first(array);
        for (long i = 0; i < wanted && at != NONE; i++) {
            at = next(end(at, limit));
        }
        return at;
    }

    /** Elements of an array, or members of an object. */
    public static int count(long container, long limit) {
        boolean object = isObject(container);
        int count = 0;
        long at = first(container);
        while (at != NONE) {
            count++;
            long value = object ? valueOf(endOfString(at)) : at;
            at = next(end(value, limit));
        }
        return count;
    }

    /** Behind the key of a member. */
    public static long keyEnd(long key) {
        return endOfString(key);
    }

    /** Appends a string's characters; {@code value} is at its opening quote. */
    public static void string(TextBuffer out, long value) {
        long from = value + 1;
        long to = endOfString(value) - 1;
        if (hasEscape(from, (int) (to - from))) {
            out.append(unescaped(from, (int) (to - from)));
        } else {
            out.append(from, (int) (to - from));
        }
    }

    /** A string's characters; {@code value} is at its opening quote. */
    public static byte[] plain(long value) {
        return unescaped(value + 1, (int) (endOfString(value) - value) - 2);
    }

    /** The characters of a string between its quotes. */
    private static byte[] unescaped(long text, int length) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(length);
        for (int i = 0; i < length; i++) {
            byte c = Memory.getByte(text + i);
            if (c != '\\') {
                out.write(c);
                continue;
            }
            byte escape = Memory.getByte(text + ++i);
            switch (escape) {
                case 'b' -> out.write('\b');
                case 'f' -> out.write('\f');
                case 'n' -> out.write('\n');
                case 'r' -> out.write('\r');
                case 't' -> out.write('\t');
                case 'u' -> {
                    byte[] digits = new byte[4];
                    Memory.copyOut(text + i + 1, digits, 0, 4);
                    out.write(
                            Integer.parseInt(new String(digits, StandardCharsets.US_ASCII), 16)); // a control character
                    i += 4;
                }
                default -> out.write(escape);
            }
        }
        return out.toByteArray();
    }

    /** The order of keys, given with their escapes: by length, then by bytes, of what they mean. */
    public static int compareKeys(long a, int aLength, long b, int bLength) {
        if (!hasEscape(a, aLength) && !hasEscape(b, bLength)) {
            return aLength != bLength ? Integer.compare(aLength, bLength) : Memory.compare(a, aLength, b, bLength);
        }
        byte[] x = unescaped(a, aLength);
        byte[] y = unescaped(b, bLength);
        return x.length != y.length ? Integer.compare(x.length, y.length) : java.util.Arrays.compareUnsigned(x, y);
    }
}
