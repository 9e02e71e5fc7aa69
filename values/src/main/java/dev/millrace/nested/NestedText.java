package dev.millrace.nested;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.number.BignumBytes;
import dev.millrace.text.Blanks;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeStyle;
import dev.millrace.text.ValueParser;
import dev.millrace.text.ValueWriter;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.nio.charset.StandardCharsets;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Images as PostgreSQL's text and back: {@code {1,NULL,"a b"}} for an array, {@code (1,,"a b")} for a row. Writing is
 * static; reading keeps scratch memory, so a reader belongs to one thread.
 */
public final class NestedText implements AutoCloseable {
    private static final int DEEPEST = 100;

    private final ValueParser parser = new ValueParser();
    private final TextBuffer item; // an element without its quotes and escapes
    private final JsonReading json;
    private long at;
    private long end;
    private long start;

    /** How a text becomes JSONB: {@code out} gets the normal form, or an error is thrown. */
    @FunctionalInterface
    public interface JsonReading {
        void normalise(TextBuffer out, long address, int length);
    }

    /** @param json reads elements of type JSONB */
    public NestedText(BufferAllocator allocator, JsonReading json) {
        this.item = new TextBuffer(allocator, 64);
        this.json = json;
    }

    /** Reads dates and times in a style. */
    public void inStyle(TimeStyle style) {
        parser.inStyle(style);
    }

    // ---- writing ---------------------------------------------------------------------------------------------------

    /** Appends the text of a value. */
    public static void write(TextBuffer out, DataType type, long value) {
        switch (type.kind()) {
            case BOOLEAN -> ValueWriter.bool(out, Memory.getByte(value) != 0);
            case SMALLINT -> ValueWriter.integer(out, Memory.getShort(value));
            case INTEGER -> ValueWriter.integer(out, Memory.getInt(value));
            case BIGINT -> ValueWriter.integer(out, Memory.getLong(value));
            case REAL -> ValueWriter.real(out, Memory.getFloat(value));
            case DOUBLE -> ValueWriter.float8(out, Memory.getDouble(value));
            case NUMERIC -> ValueWriter.numeric(out, Memory.getLong(value + 8), Memory.getLong(value), type.scale());
            case BIGNUM -> ValueWriter.bignum(out, value + 4, Memory.getInt(value));
            case TEXT, VARCHAR, CHAR, JSONB -> out.append(value + 4, Memory.getInt(value));
            case BYTEA -> ValueWriter.bytea(out, value + 4, Memory.getInt(value));
            case DATE -> ValueWriter.date(out, Memory.getInt(value));
            case TIME -> ValueWriter.time(out, Memory.getLong(value));
            case TIMESTAMP -> ValueWriter.timestamp(out, Memory.getLong(value));
            case TIMESTAMPTZ -> ValueWriter.timestamptz(out, Memory.getLong(value));
            case INTERVAL ->
                ValueWriter.interval(
                        out, Memory.getInt(value), Memory.getInt(value + 4), Memory.getLong(value + 8) / 1000);
            case UUID -> ValueWriter.uuid(out, value);
            case ARRAY -> writeArray(out, type.element(), value);
            case ROW -> writeRow(out, type, value);
            case NULL -> throw new IllegalArgumentException("a NULL has no text");
        }
    }

    private static void writeArray(TextBuffer out, DataType element, long array) {
        out.append('{');
        long at = Images.elements(array);
        for (int i = 0; i < Images.count(array); i++) {
            if (i > 0) {
                out.append(',');
            }
            if (Images.isNull(at)) {
                out.appendAscii("NULL");
            } else {
                long from = out.length();
                write(out, element, at + 1);
                if (element.kind() != Kind.ARRAY) {
                    ValueWriter.quoteFrom(out, from, true);
                }
            }
            at = Images.behind(element, at);
        }
        out.append('}');
    }

    private static void writeRow(TextBuffer out, DataType type, long row) {
        out.append('(');
        long at = row;
        for (int i = 0; i < type.fields().size(); i++) {
            if (i > 0) {
                out.append(',');
            }
            DataType field = type.fields().get(i).type();
            if (!Images.isNull(at)) {
                long from = out.length();
                write(out, field, at + 1);
                ValueWriter.quoteFrom(out, from, false);
            }
            at = Images.behind(field, at);
        }
        out.append(')');
    }

    // ---- reading ---------------------------------------------------------------------------------------------------

    /**
     * Appends the image of a text of any type; blanks around it do not count, except in text.
     *
     * @throws MillraceException 22P02 and what else the type's input fails with
     */
    public void read(TextBuffer out, DataType type, long address, int length) {
        if (type.kind() != Kind.ARRAY && type.kind() != Kind.ROW) {
            scalar(out, type, address, length);
            return;
        }
        start = address;
        at = address;
        end = address + length;
        skipBlanks();
        nested(out, type, 0);
        skipBlanks();
        if (at < end) {
            throw malformed(type, "Junk after closing brace.");
        }
    }

    private void nested(TextBuffer out, DataType type, int depth) {
        if (depth > DEEPEST) {
            throw malformed(type, "It is nested too deeply.");
        }
        if (type.kind() == Kind.ARRAY) {
            array(out, type, depth);
        } else {
            row(out, type);
        }
    }

    private void array(TextBuffer out, DataType type, int depth) {
        if (at >= end || Memory.getByte(at) != '{') {
            throw malformed(type, "Array value must start with \"{\".");
        }
        at++;
        DataType element = type.element();
        long countAt = out.length();
        ImageWriter.int32(out, 0);
        int count = 0;
        skipBlanks();
        if (at < end && Memory.getByte(at) == '}') {
            at++;
            return;
        }
        while (true) {
            skipBlanks();
            if (element.kind() == Kind.ARRAY) {
                ImageWriter.some(out);
                nested(out, element, depth + 1);
            } else {
                boolean quoted = item(type, true);
                if (!quoted && isNullWord()) {
                    ImageWriter.nothing(out);
                } else {
                    ImageWriter.some(out);
                    value(out, element);
                }
            }
            count++;
            skipBlanks();
            byte c = at < end ? Memory.getByte(at) : 0;
            at++;
            if (c == '}') {
                break;
            }
            if (c != ',') {
                throw malformed(type, "Unexpected end of input or array element.");
            }
        }
        ImageWriter.patchInt32(out, countAt, count);
    }

    private void row(TextBuffer out, DataType type) {
        if (at >= end || Memory.getByte(at) != '(') {
            throw malformed(type, "Missing left parenthesis.");
        }
        at++;
        for (int i = 0; i < type.fields().size(); i++) {
            boolean quoted = item(type, false);
            if (!quoted && item.length() == 0) {
                ImageWriter.nothing(out);
            } else {
                ImageWriter.some(out);
                value(out, type.fields().get(i).type());
            }
            boolean last = i == type.fields().size() - 1;
            byte c = at < end ? Memory.getByte(at) : 0;
            at++;
            if (c != (last ? ')' : ',')) {
                throw malformed(type, last ? "Too many columns." : "Too few columns.");
            }
        }
    }

    /** A nested value as an item's text is read after what surrounds it. */
    private void value(TextBuffer out, DataType type) {
        long savedAt = at;
        long savedEnd = end;
        long savedStart = start;
        if (type.isNested()) {
            byte[] text = item.toBytes(); // the item is written over by what is within it
            long copy = Memory.allocate(Math.max(1, text.length));
            try {
                Memory.copyIn(text, 0, copy, text.length);
                read(out, type, copy, text.length);
            } finally {
                Memory.free(copy);
            }
        } else {
            scalar(out, type, item.address(), (int) item.length());
        }
        at = savedAt;
        end = savedEnd;
        start = savedStart;
    }

    /** Takes an element up to its delimiter into {@link #item}; whether it was quoted. */
    private boolean item(DataType type, boolean inArray) {
        item.clear();
        boolean quoted = false;
        boolean inside = false;
        long lastKept = 0;
        while (at < end) {
            byte c = Memory.getByte(at);
            if (c == '\\' && at + 1 < end) {
                item.append(Memory.getByte(at + 1));
                lastKept = item.length();
                at += 2;
                continue;
            }
            if (c == '"') {
                if (inside && !inArray && at + 1 < end && Memory.getByte(at + 1) == '"') {
                    item.append((byte) '"');
                    at += 2;
                    continue;
                }
                inside = !inside;
                quoted = true;
                lastKept = item.length();
                at++;
                continue;
            }
            if (!inside && (c == ',' || c == (inArray ? '}' : ')'))) {
                break;
            }
            if (!inside && inArray && c == '{') {
                throw malformed(type, "Unexpected \"{\" character.");
            }
            item.append(c);
            if (inside || !inArray || !Blanks.isBlank(c)) {
                lastKept = item.length();
            }
            at++;
        }
        if (inside) {
            throw malformed(type, "Unexpected end of input.");
        }
        item.truncate(lastKept);
        if (inArray && !quoted && item.length() == 0) {
            throw malformed(type, "Unexpected \"" + (at < end ? (char) Memory.getByte(at) : ' ') + "\" character.");
        }
        return quoted;
    }

    private boolean isNullWord() {
        return item.length() == 4 && (Memory.getInt(item.address()) | 0x20202020) == 0x6c6c756e;
    }

    private void scalar(TextBuffer out, DataType type, long address, int length) {
        switch (type.kind()) {
            case TEXT, VARCHAR, CHAR -> {
                check(parser.tryText(type, address, length), type, address, length);
                ImageWriter.bytes(out, address, ValueParser.keptLength(type, address, length));
            }
            case JSONB -> {
                long lengthAt = out.length();
                ImageWriter.int32(out, 0);
                json.normalise(out, address, length);
                ImageWriter.patchInt32(out, lengthAt, (int) (out.length() - lengthAt - 4));
            }
            case BYTEA -> {
                long lengthAt = out.length();
                ImageWriter.int32(out, 0);
                long target = out.room(Math.max(1, length));
                check(parser.tryBytea(address, length, target), type, address, length);
                out.end(target + parser.value());
                ImageWriter.patchInt32(out, lengthAt, (int) parser.value());
            }
            case BIGNUM -> {
                check(parser.tryBignum(type, address, length), type, address, length);
                long lengthAt = out.length();
                ImageWriter.int32(out, 0);
                long target = out.room(parser.bignumBytes());
                int bytes = BignumBytes.keyLength(parser.storeBignum(target));
                out.end(target + bytes);
                ImageWriter.patchInt32(out, lengthAt, bytes);
            }
            default -> {
                check(parser.tryParse(type, address, length), type, address, length);
                if (type.kind() == Kind.BOOLEAN) {
                    ImageWriter.bool(out, parser.value() != 0);
                } else {
                    long target = out.room(type.fixedWidth());
                    parser.store(type, target);
                    out.end(target + type.fixedWidth());
                }
            }
        }
    }

    private void check(boolean parsed, DataType type, long address, int length) {
        if (!parsed) {
            throw parser.failure(type, address, length);
        }
    }

    private void skipBlanks() {
        while (at < end && Blanks.isBlank(Memory.getByte(at))) {
            at++;
        }
    }

    private MillraceException malformed(DataType type, String why) {
        byte[] bytes = new byte[(int) Math.min(end - start, 200)];
        Memory.copyOut(start, bytes, 0, bytes.length);
        String what = type.kind() == Kind.ARRAY ? "array" : "record";
        return MillraceException.user(
                        SqlState.INVALID_TEXT_REPRESENTATION,
                        "malformed " + what + " literal: \"" + new String(bytes, StandardCharsets.UTF_8) + "\"")
                .withHint(why);
    }

    @Override
    public void close() {
        item.close();
    }
}
