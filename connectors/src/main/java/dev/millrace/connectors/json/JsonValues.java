package dev.millrace.connectors.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.millrace.batch.NestedCodec;
import dev.millrace.batch.Vectors;
import dev.millrace.connectors.filter.ColumnTest;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.json.JsonImages;
import dev.millrace.json.JsonNormalizer;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.ValueParser;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.io.IOException;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;

/**
 * The values of one column of a batch under way. A row that turns out bad is written over by the next. Columns that are
 * not asked for are parsed into one place and forgotten. Not thread-safe.
 */
final class JsonValues implements AutoCloseable {
    private static final long MICROS_PER_DAY = 86_400_000_000L;
    private static final int NO_ROW = -1;
    private static final int SLACK_BYTES = 8; // readable behind every value
    private static final int SHORT_COPY = 64;

    private final JsonColumn column;
    private final DataType type;
    private final boolean kept;
    private final boolean anyText; // what is text fits
    private final boolean required;
    private final boolean variable;
    private final BufferAllocator allocator;
    private final ValueParser parser = ValueParser.ofReadableBehind();
    private final JsonNormalizer normalizer = new JsonNormalizer();
    private final JsonImages images;
    private final boolean nested; // an array or row: held as images until the batch is finished
    private final TextBuffer text;
    private final TextBuffer bytes; // the data of a variable-width column

    @SuppressWarnings("NullAway.Init") // by begin, if the values are kept
    private FieldVector vector;

    private boolean open;
    private int lastRow = NO_ROW; // that has a value in this batch
    private long rowStart; // where the row under way begins in `bytes`
    private int nulls;

    JsonValues(JsonColumn column, boolean kept, BufferAllocator allocator) {
        this.column = column;
        this.type = column.field().type();
        this.kept = kept;
        this.allocator = allocator;
        this.nested = type.isNested();
        this.required = !column.field().nullable();
        this.variable = type.fixedWidth() < 0;
        this.anyText = type.kind() == DataType.Kind.TEXT;
        this.images = new JsonImages(allocator);
        this.text = new TextBuffer(allocator, 256);
        this.bytes = new TextBuffer(allocator, kept ? 4096 : 64);
    }

    /** Starts a batch of up to so many rows. */
    void begin(int rows) {
        abandon();
        bytes.clear();
        rowStart = 0;
        lastRow = NO_ROW;
        nulls = 0;
        if (kept) {
            Field stored = nested
                    ? new Field(
                            column.field().name(),
                            DataType.BYTEA,
                            column.field().nullable())
                    : column.field();
            vector = Vectors.allocate(stored, rows, 0, allocator);
            open = true;
        }
    }

    /** Takes the parser's current value for a row. Throws what is wrong with it. */
    void put(int row, JsonParser json, JsonToken token, byte[] line, int lineStart) throws IOException {
        bytes.truncate(rowStart); // a member may come twice: the last counts
        if (token == JsonToken.VALUE_NULL) {
            lastRow = lastRow == row ? NO_ROW : lastRow;
            return;
        }
        text.clear();
        if (token == JsonToken.START_OBJECT || token == JsonToken.START_ARRAY) {
            int from = (int) json.currentTokenLocation().getByteOffset();
            json.skipChildren();
            int to = (int) json.currentLocation().getByteOffset();
            if (!type.isText() && !nested) {
                throw MillraceException.user(
                        SqlState.INVALID_TEXT_REPRESENTATION,
                        "a JSON " + (token == JsonToken.START_OBJECT ? "object" : "array") + " is no " + type);
            }
            Memory.copyIn(line, lineStart + from, text.room(to - from), to - from);
            text.end(text.address() + to - from);
        } else if (type.kind() == DataType.Kind.JSONB && token == JsonToken.VALUE_STRING) {
            int from = (int) json.currentTokenLocation().getByteOffset();
            json.finishToken();
            int to = (int) json.currentLocation().getByteOffset();
            Memory.copyIn(line, lineStart + from, text.room(to - from), to - from);
            text.end(text.address() + to - from);
        } else {
            appendUtf8(json.getTextCharacters(), json.getTextOffset(), json.getTextLength());
        }
        text.room(SLACK_BYTES);
        if (!store(row, text.address(), (int) text.length())) {
            throw parser.failure(type, text.address(), (int) text.length());
        }
        lastRow = row;
    }

    /** A member is null, which may have come before with a value. */
    void takeNull(int row) {
        bytes.truncate(rowStart);
        lastRow = lastRow == row ? NO_ROW : lastRow;
    }

    /**
     * Takes the text of a value: of a string what is between its quotes, without escapes, or for JSONB with its quotes and all.
     * Eight bytes behind it can be read.
     *
     * @param plain whether it has only ASCII characters and none below the blank
     * @return false if it is none of the type, and what is here for the row is undefined
     * @throws MillraceException if it is none of a type that is made of others
     */
    boolean take(int row, long address, int length, boolean plain) {
        bytes.truncate(rowStart);
        if (anyText && plain) {
            copy(address, length);
        } else if (!store(row, address, length)) {
            return false;
        }
        lastRow = row;
        return true;
    }

    private void copy(long address, int length) {
        if (length > SHORT_COPY) {
            bytes.append(address, length);
            return;
        }
        long at = bytes.room(length + SLACK_BYTES);
        for (int i = 0; i < length; i += 8) {
            Memory.putLong(at + i, Memory.getLong(address + i)); // a call to copy memory costs more than short text
        }
        bytes.end(at + length);
    }

    /** Whether strings are taken as they stand, with their quotes. */
    boolean takesRawStrings() {
        return type.kind() == DataType.Kind.JSONB;
    }

    /** Whether objects and arrays are taken. */
    boolean takesStructures() {
        return type.isText() || nested;
    }

    private boolean store(int row, long address, int length) {
        if (nested) {
            images.write(bytes, type, address, length);
            return true;
        }
        if (type.kind() == DataType.Kind.JSONB) {
            normalizer.normalize(bytes, address, length);
            return true;
        }
        if (variable) {
            return storeBytes(address, length);
        }
        if (column.format().isPresent()) {
            boolean parsed = parser.tryTimestamp(column.format().get(), address, length);
            if (parsed && kept) {
                storeTime(vector.getDataBufferAddress() + (long) row * type.fixedWidth(), parser.value());
            }
            return parsed;
        }
        if (!parser.tryParse(type, address, length)) {
            return false;
        }
        if (kept && type.kind() == DataType.Kind.BOOLEAN) {
            if (parser.value() != 0) {
                Memory.setBit(vector.getDataBufferAddress(), row);
            } else {
                Memory.clearBit(vector.getDataBufferAddress(), row);
            }
        } else if (kept) {
            parser.store(type, vector.getDataBufferAddress() + (long) row * type.fixedWidth());
        }
        return true;
    }

    private boolean storeBytes(long address, int length) {
        if (type.kind() == DataType.Kind.BYTEA) {
            long target = bytes.room(length);
            if (!parser.tryBytea(address, length, target)) {
                return false;
            }
            bytes.end(target + parser.value());
            return true;
        }
        if (type.kind() == DataType.Kind.BIGNUM) {
            if (!parser.tryBignum(type, address, length)) {
                return false;
            }
            long target = bytes.room(parser.bignumBytes());
            bytes.end(target + parser.storeBignum(target));
            return true;
        }
        if (!parser.tryText(type, address, length)) {
            return false;
        }
        bytes.append(address, ValueParser.keptLength(type, address, length));
        return true;
    }

    private void storeTime(long target, long micros) {
        switch (type.kind()) {
            case DATE -> Memory.putInt(target, (int) Math.floorDiv(micros, MICROS_PER_DAY));
            case TIME -> Memory.putLong(target, Math.floorMod(micros, MICROS_PER_DAY));
            default -> Memory.putLong(target, micros);
        }
    }

    private void appendUtf8(char[] chars, int offset, int length) {
        long at = text.room(3L * length);
        for (int i = offset; i < offset + length; i++) {
            char c = chars[i];
            if (c < 0x80) {
                Memory.putByte(at++, (byte) c);
            } else if (c < 0x800) {
                Memory.putByte(at++, (byte) (0xc0 | c >> 6));
                Memory.putByte(at++, (byte) (0x80 | c & 0x3f));
            } else if (Character.isHighSurrogate(c)
                    && i + 1 < offset + length
                    && Character.isLowSurrogate(chars[i + 1])) {
                int point = Character.toCodePoint(c, chars[++i]);
                Memory.putByte(at++, (byte) (0xf0 | point >> 18));
                Memory.putByte(at++, (byte) (0x80 | point >> 12 & 0x3f));
                Memory.putByte(at++, (byte) (0x80 | point >> 6 & 0x3f));
                Memory.putByte(at++, (byte) (0x80 | point & 0x3f));
            } else { // a lone surrogate makes text that is refused as no UTF-8
                Memory.putByte(at++, (byte) (0xe0 | c >> 12));
                Memory.putByte(at++, (byte) (0x80 | c >> 6 & 0x3f));
                Memory.putByte(at++, (byte) (0x80 | c & 0x3f));
            }
        }
        text.end(at);
    }

    /** Whether the row under way lacks a value that it must have. */
    boolean isMissing(int row) {
        return lastRow != row && required;
    }

    /** The error of a row that lacks its value. */
    MillraceException missing() {
        return MillraceException.user(
                SqlState.NOT_NULL_VIOLATION, "null value in column \"" + name() + "\" violates not-null constraint");
    }

    /** Whether the row under way passes a test of this column, which is kept. */
    boolean passes(ColumnTest test, int row) {
        if (lastRow != row) {
            return test.matchesNull();
        }
        if (!variable) {
            return test.matches(vector.getDataBufferAddress(), 0, row);
        }
        long offsets = vector.getOffsetBufferAddress();
        Memory.putInt(offsets + 4L * row + 4, (int) bytes.length());
        return test.matches(bytes.address(), offsets, row);
    }

    /** The row under way is good. */
    void keep(int row) {
        if (!kept) {
            bytes.clear();
            return;
        }
        if (lastRow == row) {
            Memory.setBit(vector.getValidityBufferAddress(), row);
        } else {
            Memory.clearBit(vector.getValidityBufferAddress(), row);
            nulls++;
        }
        rowStart = bytes.length();
        if (variable) {
            Memory.putInt(vector.getOffsetBufferAddress() + 4L * row + 4, (int) rowStart);
        }
    }

    /** The row under way is bad: nothing of it stays. */
    void drop(int row) {
        bytes.truncate(kept ? rowStart : 0);
        if (lastRow == row) {
            lastRow = NO_ROW;
        }
    }

    /** The finished vector, which the caller owns. */
    FieldVector finish(int rows) {
        if (variable) {
            BaseVariableWidthVector variable = (BaseVariableWidthVector) vector;
            Vectors.growData(variable, 0, rowStart + 8);
            Memory.copy(bytes.address(), variable.getDataBufferAddress(), rowStart);
        }
        if (nulls == 0) {
            Vectors.setAllValid(vector, rows);
        }
        Vectors.finish(vector, rows);
        if (!nested) {
            open = false;
            return vector;
        }
        FieldVector values = NestedCodec.values((BaseVariableWidthVector) vector, column.field(), rows, allocator);
        abandon();
        return values;
    }

    /** Gives back the vector of a batch that came to nothing. */
    void abandon() {
        if (open) {
            vector.close();
            open = false;
        }
    }

    String name() {
        return column.field().name();
    }

    @Override
    public void close() {
        abandon();
        images.close();
        text.close();
        bytes.close();
    }
}
