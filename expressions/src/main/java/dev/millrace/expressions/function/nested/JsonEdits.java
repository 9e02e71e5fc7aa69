package dev.millrace.expressions.function.nested;

import static dev.millrace.json.JsonScan.NONE;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Text;
import dev.millrace.json.JsonNormalizer;
import dev.millrace.json.JsonScan;
import dev.millrace.json.JsonStrings;
import dev.millrace.json.JsonWriter;
import dev.millrace.memory.Memory;
import dev.millrace.nested.Images;
import dev.millrace.nested.NestedText;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Functions that make JSONB of JSONB or of other values. They write what they make as it comes and leave the order of
 * members, and which of two equal keys counts, to a {@link JsonNormalizer}.
 */
public final class JsonEdits implements AutoCloseable {
    static final int NO_INDEX = Integer.MIN_VALUE;
    private static final int MOST_NULLS = 1 << 20;

    private final JsonNormalizer normalizer = new JsonNormalizer();
    private final TextBuffer draft;

    public JsonEdits(BufferAllocator allocator) {
        this.draft = new TextBuffer(allocator, 256);
    }

    private void finish(Text out) {
        normalizer.normalize(out.begin(), draft.address(), (int) draft.length());
        out.written();
    }

    /** JSON of any text; {@code text::jsonb}. */
    public void parse(long text, int length, Text out) {
        normalizer.normalize(out.begin(), text, length);
        out.written();
    }

    // ---- of other values -------------------------------------------------------------------------------------------

    /** {@code to_jsonb}: {@code element} is an image with its NULL byte. */
    public void of(DataType type, long element, int length, Text out) {
        JsonWriter.element(out.begin(), type, element);
        out.written();
    }

    /** {@code jsonb_build_array}: of the fields of a row. */
    public void buildArray(DataType row, long image, int length, Text out) {
        TextBuffer buffer = out.begin();
        buffer.append('[');
        long at = image;
        for (int i = 0; i < row.fields().size(); i++) {
            if (i > 0) {
                buffer.appendAscii(", ");
            }
            JsonWriter.element(buffer, row.fields().get(i).type(), at);
            at = Images.behind(row.fields().get(i).type(), at);
        }
        buffer.append(']');
        out.written();
    }

    /** {@code jsonb_build_object}: keys and values are the fields of a row in turn. */
    public void buildObject(DataType row, long image, int length, Text out) {
        int count = row.fields().size();
        if (count % 2 != 0) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE, "argument list must have even number of elements")
                    .withHint("jsonb_build_object takes keys and values in turn");
        }
        draft.clear();
        draft.append('{');
        long at = image;
        for (int i = 0; i < count; i += 2) {
            DataType key = row.fields().get(i).type();
            if (i > 0) {
                draft.append(',');
            }
            key(key, at, i + 1);
            at = Images.behind(key, at);
            JsonWriter.element(draft, row.fields().get(i + 1).type(), at);
            at = Images.behind(row.fields().get(i + 1).type(), at);
        }
        draft.append('}');
        finish(out);
    }

    private void key(DataType type, long element, int argument) {
        if (type.kind() == DataType.Kind.NULL || Images.isNull(element)) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    argument == 0 ? "field name must not be null" : "argument " + argument + ": key must not be null");
        }
        long start = draft.length();
        NestedText.write(draft, type, element + 1);
        JsonStrings.quoteFrom(draft, start);
        draft.append(':');
    }

    /** An object of an array of rows of a key and a value: what {@code jsonb_object_agg} collects. */
    public void members(DataType rows, long array, int length, Text out) {
        DataType row = rows.element();
        draft.clear();
        draft.append('{');
        long at = Images.elements(array);
        for (int i = 0; i < Images.count(array); i++) {
            if (i > 0) {
                draft.append(',');
            }
            long key = at + 1;
            DataType keyType = row.fields().get(0).type();
            key(keyType, key, 0);
            JsonWriter.element(draft, row.fields().get(1).type(), Images.behind(keyType, key));
            at = Images.behind(row, at);
        }
        draft.append('}');
        finish(out);
    }

    /** {@code jsonb_object} of keys and values in turn. */
    public void object(long texts, int length, Text out) {
        if (Images.count(texts) % 2 != 0) {
            throw MillraceException.user(SqlState.ARRAY_SUBSCRIPT_ERROR, "array must have even number of elements");
        }
        draft.clear();
        draft.append('{');
        long at = Images.elements(texts);
        for (int i = 0; i < Images.count(texts); i++) {
            member(i % 2 == 0, i, at);
            at = Images.behind(DataType.TEXT, at);
        }
        draft.append('}');
        finish(out);
    }

    /** {@code jsonb_object} of keys and of values. */
    public void object(long keys, int keysLength, long values, int valuesLength, Text out) {
        if (Images.count(keys) != Images.count(values)) {
            throw MillraceException.user(SqlState.ARRAY_SUBSCRIPT_ERROR, "mismatched array dimensions");
        }
        draft.clear();
        draft.append('{');
        long key = Images.elements(keys);
        long value = Images.elements(values);
        for (int i = 0; i < Images.count(keys); i++) {
            member(true, 2 * i, key);
            member(false, 2 * i + 1, value);
            key = Images.behind(DataType.TEXT, key);
            value = Images.behind(DataType.TEXT, value);
        }
        draft.append('}');
        finish(out);
    }

    private void member(boolean isKey, int index, long text) {
        if (isKey) {
            if (index > 0) {
                draft.append(',');
            }
            key(DataType.TEXT, text, 0);
        } else {
            JsonWriter.element(draft, DataType.TEXT, text);
        }
    }

    // ---- concatenation and removal ---------------------------------------------------------------------------------

    /** {@code a || b}. */
    public void concat(long a, int aLength, long b, int bLength, Text out) {
        boolean objects = JsonScan.isObject(a) && JsonScan.isObject(b);
        draft.clear();
        draft.append(objects ? '{' : '[');
        boolean any = items(a, aLength, objects, false);
        items(b, bLength, objects, any);
        draft.append(objects ? '}' : ']');
        finish(out);
    }

    private boolean items(long json, int length, boolean objects, boolean comma) {
        boolean spread = objects || JsonScan.isArray(json);
        if (spread && length <= 2) {
            return comma;
        }
        if (comma) {
            draft.append(',');
        }
        if (spread) {
            draft.append(json + 1, length - 2);
        } else {
            draft.append(json, length);
        }
        return true;
    }

    /** {@code json - 'key'}: a member, or strings of an array. */
    public void delete(long json, int length, long key, int keyLength, Text out) {
        requireContainer(json);
        copyWithout(json, length, out, at -> JsonFunctions.has(at, 0, key, keyLength));
    }

    /** {@code json - keys}, the image of a {@code text[]}. */
    public void deleteAll(long json, int length, long keys, int keysLength, Text out) {
        requireContainer(json);
        copyWithout(json, length, out, at -> {
            long key = Images.elements(keys);
            for (int left = Images.count(keys); left > 0; left--) {
                if (!Images.isNull(key) && JsonFunctions.has(at, 0, key + 5, Memory.getInt(key + 1))) {
                    return true;
                }
                key = Images.behind(DataType.TEXT, key);
            }
            return false;
        });
    }

    private static void requireContainer(long json) {
        if (!JsonScan.isObject(json) && !JsonScan.isArray(json)) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "cannot delete from scalar");
        }
    }

    private interface Test {
        boolean matches(long key);
    }

    /** Tests keys of an object, and elements of an array that are strings. */
    private static void copyWithout(long json, int length, Text out, Test removed) {
        long limit = json + length;
        boolean object = JsonScan.isObject(json);
        TextBuffer buffer = out.begin();
        buffer.append(object ? '{' : '[');
        boolean first = true;
        for (long at = JsonScan.first(json); at != NONE; ) {
            long end = JsonScan.end(object ? JsonScan.valueOf(JsonScan.keyEnd(at)) : at, limit);
            boolean keep = !JsonScan.isString(at) || !removed.matches(at);
            if (keep) {
                if (!first) {
                    buffer.appendAscii(", ");
                }
                first = false;
                buffer.append(at, (int) (end - at));
            }
            at = JsonScan.next(end);
        }
        buffer.append(object ? '}' : ']');
        out.written();
    }

    /** {@code json - index}. */
    public void delete(long json, int length, int index, Text out) {
        if (!JsonScan.isArray(json)) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    JsonScan.isObject(json)
                            ? "cannot delete from object using integer index"
                            : "cannot delete from scalar");
        }
        long place = JsonScan.element(json, json + length, index);
        draft.clear();
        draft.append('[');
        boolean first = true;
        for (long at = JsonScan.first(json); at != NONE; ) {
            long end = JsonScan.end(at, json + length);
            if (at != place) {
                if (!first) {
                    draft.append(',');
                }
                first = false;
                draft.append(at, (int) (end - at));
            }
            at = JsonScan.next(end);
        }
        draft.append(']');
        finish(out);
    }

    // ---- at a path -------------------------------------------------------------------------------------------------

    private enum Change {
        SET,
        SET_OR_CREATE,
        INSERT_BEFORE,
        INSERT_AFTER,
        DELETE
    }

    public void deletePath(long json, int length, long path, int pathLength, Text out) {
        requireContainer(json);
        edit(json, length, path, 0, 0, Change.DELETE, out);
    }

    public void set(long json, int length, long path, int pathLength, long value, int valueLength, Text out) {
        edit(json, length, path, value, valueLength, Change.SET_OR_CREATE, out);
    }

    public void set(
            long json, int length, long path, int pathLength, long value, int valueLength, boolean create, Text out) {
        edit(json, length, path, value, valueLength, create ? Change.SET_OR_CREATE : Change.SET, out);
    }

    /**
     * {@code json[key] = value}, by a path of one step: a member is set or made, and an element set; before one beyond the end there are
     * nulls. 22004 for an element before the first, 54000 for one too far beyond the last.
     */
    public void assign(long json, int length, long path, int pathLength, long value, int valueLength, Text out) {
        long step = Images.elements(path);
        if (Images.isNull(step)) {
            throw MillraceException.user(
                    SqlState.NULL_VALUE_NOT_ALLOWED, "jsonb subscript in assignment must not be null");
        }
        int index = JsonScan.isArray(json) ? index(step + 5, Memory.getInt(step + 1)) : NO_INDEX;
        int count = index == NO_INDEX ? 0 : JsonScan.count(json, json + length);
        if (index == NO_INDEX || index < count && index >= -count) {
            edit(json, length, path, value, valueLength, Change.SET_OR_CREATE, out);
            return;
        } else if (index < 0) {
            throw MillraceException.user(SqlState.NULL_VALUE_NOT_ALLOWED, "path element is out of range: " + index);
        } else if (index - count > MOST_NULLS) {
            throw MillraceException.user(
                    SqlState.PROGRAM_LIMIT_EXCEEDED,
                    "more than " + MOST_NULLS + " elements are missing before the one that is assigned");
        }
        draft.clear();
        draft.append('[');
        boolean any = items(json, length, false, false);
        for (int i = count; i < index; i++) {
            draft.appendAscii(any ? ",null" : "null");
            any = true;
        }
        created(false, 0, 0, value, valueLength, !any);
        draft.append(']');
        finish(out);
    }

    public void insert(long json, int length, long path, int pathLength, long value, int valueLength, Text out) {
        edit(json, length, path, value, valueLength, Change.INSERT_BEFORE, out);
    }

    public void insert(
            long json, int length, long path, int pathLength, long value, int valueLength, boolean after, Text out) {
        edit(json, length, path, value, valueLength, after ? Change.INSERT_AFTER : Change.INSERT_BEFORE, out);
    }

    private void edit(long json, int length, long path, long value, int valueLength, Change change, Text out) {
        if (!JsonScan.isObject(json) && !JsonScan.isArray(json)) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "cannot set path in scalar");
        }
        if (Images.count(path) == 0) {
            out.slice(json, length);
            return;
        }
        draft.clear();
        edit(json, json + length, Images.elements(path), Images.count(path), value, valueLength, change);
        finish(out);
    }

    /** Appends a value with the change below it, at {@code step}, the first of {@code steps} that are left. */
    private void edit(long json, long limit, long step, int steps, long value, int valueLength, Change change) {
        boolean object = JsonScan.isObject(json);
        if (!object && !JsonScan.isArray(json)) {
            draft.append(json, (int) (JsonScan.end(json, limit) - json));
            return;
        }
        if (Images.isNull(step)) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "path element must not be null");
        }
        long text = step + 5;
        int bytes = Memory.getInt(step + 1);
        long place;
        boolean front = false;
        if (object) {
            place = JsonScan.member(json, limit, text, bytes);
        } else {
            int index = index(text, bytes);
            if (index == NO_INDEX) {
                throw MillraceException.user(
                        SqlState.INVALID_TEXT_REPRESENTATION,
                        "path element is not an integer: \"" + JsonFunctions.shown(text, bytes) + "\"");
            }
            place = JsonScan.element(json, limit, index);
            front = place == NONE && index < 0;
        }
        boolean last = steps == 1;
        boolean create = place == NONE && last && change != Change.SET && change != Change.DELETE;
        boolean first = true;
        draft.append(object ? '{' : '[');
        if (create && front) {
            first = created(object, text, bytes, value, valueLength, first);
        }
        for (long at = JsonScan.first(json); at != NONE; ) {
            long item = object ? JsonScan.valueOf(JsonScan.keyEnd(at)) : at;
            long end = JsonScan.end(item, limit);
            if (item != place) {
                first = comma(first);
                draft.append(at, (int) (end - at));
            } else if (!last) {
                first = comma(first);
                draft.append(at, (int) (item - at));
                edit(item, limit, Images.behind(DataType.TEXT, step), steps - 1, value, valueLength, change);
            } else {
                first = changed(object, at, item, end, value, valueLength, change, first);
            }
            at = JsonScan.next(end);
        }
        if (create && !front) {
            created(object, text, bytes, value, valueLength, first);
        }
        draft.append(object ? '}' : ']');
    }

    private boolean changed(
            boolean object, long at, long item, long end, long value, int valueLength, Change change, boolean first) {
        boolean isFirst = first;
        switch (change) {
            case DELETE -> {
                return isFirst;
            }
            case SET, SET_OR_CREATE -> {
                isFirst = comma(isFirst);
                draft.append(at, (int) (item - at));
                draft.append(value, valueLength);
            }
            case INSERT_BEFORE, INSERT_AFTER -> {
                if (object) {
                    throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "cannot replace existing key")
                            .withHint("use jsonb_set to replace key value");
                }
                if (change == Change.INSERT_BEFORE) {
                    isFirst = comma(isFirst);
                    draft.append(value, valueLength);
                }
                isFirst = comma(isFirst);
                draft.append(at, (int) (end - at));
                if (change == Change.INSERT_AFTER) {
                    isFirst = comma(isFirst);
                    draft.append(value, valueLength);
                }
            }
        }
        return isFirst;
    }

    private boolean created(boolean object, long key, int keyLength, long value, int valueLength, boolean first) {
        boolean isFirst = comma(first);
        if (object) {
            long start = draft.length();
            draft.append(key, keyLength);
            JsonStrings.quoteFrom(draft, start);
            draft.append(':');
        }
        draft.append(value, valueLength);
        return isFirst;
    }

    private boolean comma(boolean first) {
        if (!first) {
            draft.append(',');
        }
        return false;
    }

    /** The number a path's text is, or {@link #NO_INDEX}. */
    static int index(long text, int length) {
        boolean negative = length > 0 && Memory.getByte(text) == '-';
        long value = 0;
        for (int i = negative ? 1 : 0; i < length; i++) {
            int digit = Memory.getByte(text + i) - '0';
            if (digit < 0 || digit > 9 || value > Integer.MAX_VALUE) {
                return NO_INDEX;
            }
            value = 10 * value + digit;
        }
        boolean valid = length > (negative ? 1 : 0) && value <= Integer.MAX_VALUE;
        return valid ? (int) (negative ? -value : value) : NO_INDEX;
    }

    @Override
    public void close() {
        draft.close();
    }
}
