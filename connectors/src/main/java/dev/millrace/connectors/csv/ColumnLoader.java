package dev.millrace.connectors.csv;

import dev.millrace.batch.Memory;
import dev.millrace.batch.Vectors;
import dev.millrace.connectors.input.ByteWindow;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimestampFormat;
import dev.millrace.text.Utf8;
import dev.millrace.text.ValueParser;
import dev.millrace.type.DataType;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;

/**
 * Parses one column of an indexed block, into a vector or only to see that it can be. A value that cannot is reported,
 * and what the vector then holds for its row is undefined. Not thread-safe.
 */
final class ColumnLoader implements AutoCloseable {
    /** Told of values that cannot be parsed. */
    interface Problems {
        void report(int row, String column, MillraceException reason);
    }

    private static final int NULL_VALUE = -1;
    private static final long MICROS_PER_DAY = 86_400_000_000L;
    private static final int SHORT_COPY = 64;
    private static final byte[] NO_BYTES = {};

    private final CsvColumn column;
    private final String name;
    private final DataType type;
    private final CsvDialect dialect;
    private final int field;
    private final Problems problems;
    private final byte[][] nulls;
    private final boolean[] startsNull = new boolean[256];
    private final boolean emptyIsNull;
    private final boolean text;
    private final boolean normalises;
    private final byte[] thousands;
    private final ValueParser parser = ValueParser.ofReadableBehind(); // windows and scratch have slack
    private final TextBuffer scratch;

    // Of the block under way.
    private CsvIndex index;
    private long base;
    private long at; // of the value located last
    private int[] nullRows = new int[64];
    private int nullCount;

    ColumnLoader(CsvColumn column, int field, CsvDialect dialect, BufferAllocator allocator, Problems problems) {
        this.column = column;
        this.name = column.field().name();
        this.type = column.field().type();
        this.dialect = dialect;
        this.field = field;
        this.problems = problems;
        this.text = type.isText() || type.kind() == DataType.Kind.BYTEA;
        this.nulls = dialect.nulls().stream()
                .filter(word -> !word.isEmpty())
                .map(word -> word.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
        for (byte[] word : nulls) {
            startsNull[word[0] & 0xff] = true;
        }
        this.emptyIsNull = !text || dialect.nulls().contains("");
        this.normalises = dialect.normalisesNumbers() && type.isNumber();
        this.thousands = normalises ? dialect.thousands().getBytes(StandardCharsets.UTF_8) : NO_BYTES;
        this.scratch = new TextBuffer(allocator, 64);
    }

    /** Parses all rows for nothing but the problems. */
    void validate(CsvIndex newIndex, long newBase, boolean plain) {
        start(newIndex, newBase);
        boolean cannotFail = type.isText()
                && plain
                && type.precision() == 0
                && column.field().nullable();
        if (cannotFail) {
            return;
        }
        if (text) {
            validateText(plain);
        } else {
            parseFixed(scratch.room(16), 0, new long[1], 0); // every value into the same place
        }
    }

    /** Parses all rows into a new vector, which the caller owns. */
    FieldVector load(CsvIndex newIndex, long newBase, boolean plain, BufferAllocator allocator) {
        start(newIndex, newBase);
        int rows = index.rows;
        FieldVector vector =
                Vectors.allocate(column.field(), rows, text ? rawBytes() + ByteWindow.SLACK_BYTES : 0, allocator);
        try {
            if (text) {
                loadText((BaseVariableWidthVector) vector, plain);
            } else if (type.kind() == DataType.Kind.BOOLEAN) {
                long[] bits = new long[(rows + 63) >>> 6];
                parseFixed(0, 0, bits, 1);
                for (int row = 0; row < rows; row += 8) {
                    Memory.putByte(
                            vector.getDataBufferAddress() + (row >>> 3), (byte) (bits[row >>> 6] >>> (row & 63)));
                }
            } else {
                parseFixed(vector.getDataBufferAddress(), type.fixedWidth(), NO_BITS, 0);
            }
            Vectors.setAllValid(vector, rows);
            long validity = vector.getValidityBufferAddress();
            for (int i = 0; i < nullCount; i++) {
                Memory.clearBit(validity, nullRows[i]);
            }
            Vectors.finish(vector, rows);
            return vector;
        } catch (RuntimeException | Error e) {
            vector.close();
            throw e;
        }
    }

    private static final long[] NO_BITS = {};

    private void start(CsvIndex newIndex, long newBase) {
        index = newIndex;
        base = newBase;
        nullCount = 0;
    }

    /**
     * Writes each value at {@code data} + row * {@code stride}; booleans as bits, {@code bitStride} apart. One loop per
     * common type, so that the JIT sees no choice inside.
     */
    private void parseFixed(long data, int stride, long[] bits, int bitStride) {
        if (column.format().isPresent()) {
            parseFormatted(column.format().get(), data, stride);
            return;
        }
        switch (type.kind()) {
            case BIGINT -> parseBigint(data, stride);
            case INTEGER -> parseInteger(data, stride);
            case DOUBLE -> parseDouble(data, stride);
            case TIMESTAMP -> parseTimestamp(data, stride, false);
            case TIMESTAMPTZ -> parseTimestamp(data, stride, true);
            case BOOLEAN -> parseBoolean(bits, bitStride);
            default -> parseOther(data, stride);
        }
    }

    private void parseBigint(long data, int stride) {
        int rows = index.rows;
        for (int row = 0; row < rows; row++) {
            int length = locate(row);
            if (length == NULL_VALUE) {
                isNull(row);
            } else if (parser.tryBigint(at, length)) {
                Memory.putLong(data + (long) row * stride, parser.value());
            } else {
                failed(row, length);
            }
        }
    }

    private void parseInteger(long data, int stride) {
        int rows = index.rows;
        for (int row = 0; row < rows; row++) {
            int length = locate(row);
            if (length == NULL_VALUE) {
                isNull(row);
            } else if (parser.tryInteger(at, length)) {
                Memory.putInt(data + (long) row * stride, (int) parser.value());
            } else {
                failed(row, length);
            }
        }
    }

    private void parseDouble(long data, int stride) {
        int rows = index.rows;
        for (int row = 0; row < rows; row++) {
            int length = locate(row);
            if (length == NULL_VALUE) {
                isNull(row);
            } else if (parser.tryFloat8(at, length)) {
                Memory.putLong(data + (long) row * stride, parser.value());
            } else {
                failed(row, length);
            }
        }
    }

    private void parseTimestamp(long data, int stride, boolean zoned) {
        int rows = index.rows;
        for (int row = 0; row < rows; row++) {
            int length = locate(row);
            if (length == NULL_VALUE) {
                isNull(row);
            } else if (zoned ? parser.tryTimestamptz(at, length) : parser.tryTimestamp(at, length)) {
                Memory.putLong(data + (long) row * stride, parser.value());
            } else {
                failed(row, length);
            }
        }
    }

    private void parseBoolean(long[] bits, int bitStride) {
        int rows = index.rows;
        for (int row = 0; row < rows; row++) {
            int length = locate(row);
            if (length == NULL_VALUE) {
                isNull(row);
            } else if (parser.tryBool(at, length)) {
                int bit = row * bitStride;
                bits[bit >>> 6] |= parser.value() << bit;
            } else {
                failed(row, length);
            }
        }
    }

    private void parseOther(long data, int stride) {
        int rows = index.rows;
        for (int row = 0; row < rows; row++) {
            int length = locate(row);
            if (length == NULL_VALUE) {
                isNull(row);
            } else if (parser.tryParse(type, at, length)) {
                parser.store(type, data + (long) row * stride);
            } else {
                failed(row, length);
            }
        }
    }

    private void parseFormatted(TimestampFormat format, long data, int stride) {
        int rows = index.rows;
        for (int row = 0; row < rows; row++) {
            int length = locate(row);
            if (length == NULL_VALUE) {
                isNull(row);
                continue;
            }
            if (!parser.tryTimestamp(format, at, length)) {
                failed(row, length);
                continue;
            }
            long target = data + (long) row * stride;
            long micros = parser.value();
            switch (type.kind()) {
                case DATE -> Memory.putInt(target, (int) Math.floorDiv(micros, MICROS_PER_DAY));
                case TIME -> Memory.putLong(target, Math.floorMod(micros, MICROS_PER_DAY));
                default -> Memory.putLong(target, micros);
            }
        }
    }

    private void validateText(boolean plain) {
        boolean checked = !plain || type.precision() > 0;
        for (int row = 0; row < index.rows; row++) {
            int length = locate(row);
            if (length == NULL_VALUE) {
                isNull(row);
            } else if (type.kind() == DataType.Kind.BYTEA) {
                if (!parser.tryBytea(at, length, scratch.room(length))) {
                    failed(row, length);
                }
            } else if (checked && !parser.tryText(type, at, length)) {
                failed(row, length);
            }
        }
    }

    private void loadText(BaseVariableWidthVector vector, boolean plain) {
        long data = vector.getDataBufferAddress();
        long offsets = vector.getOffsetBufferAddress();
        boolean bytes = type.kind() == DataType.Kind.BYTEA;
        boolean checked = !plain || type.precision() > 0;
        int rows = index.rows;
        int used = 0;
        for (int row = 0; row < rows; row++) {
            int length = locate(row);
            if (length == NULL_VALUE) {
                isNull(row);
            } else if (bytes) {
                if (parser.tryBytea(at, length, data + used)) {
                    used += (int) parser.value();
                } else {
                    failed(row, length);
                }
            } else if (checked && !parser.tryText(type, at, length)) {
                failed(row, length);
            } else {
                int kept = checked ? fitted(length) : length;
                copy(at, data + used, kept);
                used += kept;
            }
            Memory.putInt(offsets + 4L * row + 4, used);
        }
    }

    /** Copies by words past the end, where both sides have slack: a call to copy memory costs more than short text. */
    private static void copy(long from, long to, int length) {
        if (length > SHORT_COPY) {
            Memory.copy(from, to, length);
            return;
        }
        for (int i = 0; i < length; i += 8) {
            Memory.putLong(to + i, Memory.getLong(from + i));
        }
    }

    /** The bytes that a text of a limited type keeps: blanks past its length are cut, CHAR loses all at its end. */
    private int fitted(int length) {
        int kept = length;
        if (type.kind() == DataType.Kind.CHAR) {
            while (kept > 0 && Memory.getByte(at + kept - 1) == ' ') {
                kept--;
            }
        } else if (type.kind() == DataType.Kind.VARCHAR && type.precision() > 0) {
            while (kept > type.precision() && Utf8.characters(at, kept) > type.precision()) {
                kept--;
            }
        }
        return kept;
    }

    /** At least the bytes that the column's text takes. */
    private long rawBytes() {
        long bytes = 0;
        for (int row = 0; row < index.rows; row++) {
            bytes += (index.ends[row * index.fields() + field] & CsvIndex.POSITION) - index.start(row, field);
        }
        return bytes;
    }

    /** Sets {@link #at} to the text of a value and returns its length, or NULL_VALUE. */
    private int locate(int row) {
        int end = index.ends[row * index.fields() + field];
        int start = index.start(row, field);
        if ((end & ~CsvIndex.POSITION) != 0) {
            return locateFlagged(start, end);
        }
        int length = end - start;
        at = base + start;
        if (length == 0) {
            return emptyIsNull ? NULL_VALUE : 0;
        }
        int first = Memory.getByte(at);
        if (first <= ' ' && first >= 0 || Memory.getByte(at + length - 1) == ' ') {
            length = trimmed(length);
            if (length == 0) {
                return emptyIsNull ? NULL_VALUE : 0;
            }
            first = Memory.getByte(at);
        }
        if (startsNull[first & 0xff] && isNullText(length)) {
            return NULL_VALUE;
        }
        return normalises ? normalised(length) : length;
    }

    private int trimmed(int length) {
        if (text && !dialect.trim()) {
            return length;
        }
        int kept = length;
        while (kept > 0 && isBlank(Memory.getByte(at + kept - 1))) {
            kept--;
        }
        while (kept > 0 && isBlank(Memory.getByte(at))) {
            at++;
            kept--;
        }
        return kept;
    }

    private static boolean isBlank(byte c) {
        return c == ' ' || c == '\t';
    }

    private boolean isNullText(int length) {
        for (byte[] word : nulls) {
            if (word.length == length) {
                int same = 0;
                while (same < length && Memory.getByte(at + same) == word[same]) {
                    same++;
                }
                if (same == length) {
                    return true;
                }
            }
        }
        return false;
    }

    /** A quoted value, never NULL, its quotes and escapes removed; or one that the record does not have. */
    private int locateFlagged(int start, int end) {
        if ((end & CsvIndex.ABSENT) != 0) {
            return NULL_VALUE;
        }
        long from = base + start;
        long to = base + (end & CsvIndex.POSITION);
        while (Memory.getByte(from) != dialect.quote()) {
            from++; // blanks before the quote
        }
        from++;
        do {
            to--; // blanks behind the quote, and the quote
        } while (Memory.getByte(to) != dialect.quote());
        at = from;
        int length = (int) (to - from);
        if ((end & CsvIndex.ESCAPED) != 0) {
            length = unescaped(from, to);
        }
        return normalises ? normalised(length) : length;
    }

    private int unescaped(long from, long to) {
        scratch.clear();
        long target = scratch.room(to - from + ByteWindow.SLACK_BYTES);
        long next = target;
        for (long source = from; source < to; source++) {
            byte c = Memory.getByte(source);
            if (c == dialect.escape() && source + 1 < to) {
                byte following = Memory.getByte(source + 1);
                if (following == dialect.quote() || following == dialect.escape()) {
                    c = following;
                    source++;
                }
            }
            Memory.putByte(next++, c);
        }
        at = target;
        return (int) (next - target);
    }

    /** A number with a point for its comma and without thousands marks, in the scratch buffer. */
    private int normalised(int length) {
        boolean inScratch = at >= scratch.address() && at < scratch.address() + 8;
        if (!inScratch) {
            scratch.clear();
            scratch.room(length + ByteWindow.SLACK_BYTES);
        }
        long source = at;
        long end = at + length;
        long target = scratch.address();
        long next = target; // never ahead of the source when both are the scratch buffer
        while (source < end) {
            if (thousands.length > 0 && isThousands(source, end)) {
                source += thousands.length;
                continue;
            }
            byte c = Memory.getByte(source++);
            Memory.putByte(next++, c == ',' && dialect.decimalComma() ? (byte) '.' : c);
        }
        at = target;
        return (int) (next - target);
    }

    private boolean isThousands(long source, long end) {
        if (end - source < thousands.length) {
            return false;
        }
        for (int i = 0; i < thousands.length; i++) {
            if (Memory.getByte(source + i) != thousands[i]) {
                return false;
            }
        }
        return true;
    }

    private void isNull(int row) {
        if (nullCount == nullRows.length) {
            nullRows = Arrays.copyOf(nullRows, 2 * nullCount);
        }
        nullRows[nullCount++] = row;
        if (!column.field().nullable()) {
            problems.report(
                    row,
                    name,
                    MillraceException.user(
                            SqlState.NOT_NULL_VIOLATION,
                            "null value in column \"" + name + "\" violates not-null constraint"));
        }
    }

    private void failed(int row, int length) {
        boolean nul = Utf8.hasNul(at, length) && Utf8.isValid(at, length);
        MillraceException reason = nul
                ? MillraceException.user(
                        SqlState.CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\": 0x00")
                : parser.failure(type, at, length);
        problems.report(row, name, reason);
    }

    @Override
    public void close() {
        scratch.close();
    }
}
