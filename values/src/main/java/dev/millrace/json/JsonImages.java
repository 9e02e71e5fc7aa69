package dev.millrace.json;

import static dev.millrace.json.JsonScan.NONE;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.nested.ImageWriter;
import dev.millrace.nested.NestedText;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import java.nio.charset.StandardCharsets;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Arrays and rows of JSON text: an array's elements in their order, a row's fields by the keys of an object, which may
 * lack some and have others. Belongs to one thread.
 */
public final class JsonImages implements AutoCloseable {
    private final JsonNormalizer normalizer = new JsonNormalizer();
    private final NestedText reader;
    private final TextBuffer normal;
    private final TextBuffer scalar;
    private final TextBuffer key;

    public JsonImages(BufferAllocator allocator) {
        this.reader = new NestedText(allocator, normalizer::normalize);
        this.normal = new TextBuffer(allocator, 256);
        this.scalar = new TextBuffer(allocator, 64);
        this.key = new TextBuffer(allocator, 64);
    }

    /** Appends the image of any JSON text as a value of an array or row type; what does not fit is 22P02. */
    public void write(TextBuffer out, DataType type, long json, int length) {
        normal.clear();
        normalizer.normalize(normal, json, length);
        value(out, type, normal.address(), normal.address() + normal.length());
    }

    private void element(TextBuffer out, DataType type, long json, long limit) {
        if (json == NONE || JsonScan.isNull(json) && type.kind() != Kind.JSONB) {
            ImageWriter.nothing(out);
        } else {
            ImageWriter.some(out);
            value(out, type, json, limit);
        }
    }

    private void value(TextBuffer out, DataType type, long json, long limit) {
        switch (type.kind()) {
            case ARRAY -> {
                require(JsonScan.isArray(json), type);
                long countAt = out.length();
                ImageWriter.int32(out, 0);
                int count = 0;
                for (long at = JsonScan.first(json); at != NONE; count++) {
                    element(out, type.element(), at, limit);
                    at = JsonScan.next(JsonScan.end(at, limit));
                }
                ImageWriter.patchInt32(out, countAt, count);
            }
            case ROW -> {
                require(JsonScan.isObject(json), type);
                for (Field field : type.fields()) {
                    key.clear();
                    key.append(field.name().getBytes(StandardCharsets.UTF_8));
                    long member = JsonScan.member(json, limit, key.address(), (int) key.length());
                    element(out, field.type(), member, limit);
                }
            }
            case JSONB -> ImageWriter.bytes(out, json, (int) (JsonScan.end(json, limit) - json));
            default -> {
                scalar.clear();
                if (JsonScan.isString(json)) {
                    JsonScan.string(scalar, json);
                } else {
                    require(type.isText() || !JsonScan.isArray(json) && !JsonScan.isObject(json), type);
                    scalar.append(json, (int) (JsonScan.end(json, limit) - json));
                }
                reader.read(out, type, scalar.address(), (int) scalar.length());
            }
        }
    }

    private static void require(boolean fits, DataType type) {
        if (!fits) {
            throw MillraceException.user(
                    SqlState.INVALID_TEXT_REPRESENTATION, "a JSON value of another kind is no " + type);
        }
    }

    @Override
    public void close() {
        reader.close();
        normal.close();
        scalar.close();
        key.close();
    }
}
