package dev.millrace.connectors.csv;

import dev.millrace.batch.NestedCodec;
import dev.millrace.batch.Vectors;
import dev.millrace.connectors.input.ByteWindow;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.json.JsonNormalizer;
import dev.millrace.memory.Memory;
import dev.millrace.nested.NestedText;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimestampFormat;
import dev.millrace.text.Utf8;
import dev.millrace.text.ValueParser;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.Arrays;
import java.util.Optional;
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

    private static final long MICROS_PER_DAY = 86_400_000_000L;
    private static final int SHORT_COPY = 64;
    private static final long[] NO_BITS = {};

    private final CsvColumn column;
    private final String name;
    private final DataType type;
    private final Problems problems;
    private static final int BIGNUM_BYTES = 16;

    private final boolean text;
    private final FieldText values;
    private final ValueParser parser = ValueParser.ofReadableBehind(); // windows and located values have slack
    private final TextBuffer forgotten; // where values go that are only validated
    private final BufferAllocator allocator;
    private final JsonNormalizer normalizer = new JsonNormalizer();
    private final Optional<NestedText> structured; // of JSONB, arrays and rows

    // Of the block under way.
    @SuppressWarnings("NullAway.Init") // by start, with the first block
    private CsvIndex index;

    private int[] nullRows = new int[64];
    private int nullCount;

    ColumnLoader(CsvColumn column, int field, CsvDialect dialect, BufferAllocator allocator, Problems problems) {
        this.column = column;
        this.name = column.field().name();
        this.type = column.field().type();
        this.problems = problems;
        this.text = type.isBytes();
        this.allocator = allocator;
        boolean isStructured = type.kind() == DataType.Kind.JSONB
                || type.kind() == DataType.Kind.ARRAY
                || type.kind() == DataType.Kind.ROW;
        this.structured =
                isStructured ? Optional.of(new NestedText(allocator, normalizer::normalize)) : Optional.empty();
        this.values = new FieldText(type, field, dialect, allocator);
        this.forgotten = new TextBuffer(allocator, 64);
    }

    /** Whether values are bytes of any length, which are copied when they are loaded. */
    boolean isText() {
        return text;
    }

    /** Parses all rows for nothing but the problems. */
    void validate(CsvIndex newIndex, long newBase, boolean plain) {
        start(newIndex, newBase);
        if (structured.isPresent()) {
            loadStructured(index.rows, allocator).close();
            return;
        }
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
            parseFixed(forgotten.room(16), 0, new long[1], 0); // every value into the same place
        }
    }

    /** Parses all rows into a new vector, which the caller owns. */
    FieldVector load(CsvIndex newIndex, long newBase, boolean plain, BufferAllocator allocator) {
        start(newIndex, newBase);
        int rows = index.rows;
        if (structured.isPresent()) {
            return loadStructured(rows, allocator);
        }
        FieldVector vector = Vectors.allocate(column.field(), rows, text ? textBytes(rows) : 0, allocator);
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

    /** The most bytes that the values take: of a number of any size half as many as it has digits, and some. */
    private long textBytes(int rows) {
        long more = type.kind() == DataType.Kind.BIGNUM ? (long) BIGNUM_BYTES * rows : 0;
        return values.rawBytes() + more + ByteWindow.SLACK_BYTES;
    }

    /** JSONB, arrays and rows, each value by way of a buffer, as it may grow. */
    private FieldVector loadStructured(int rows, BufferAllocator allocator) {
        forgotten.clear();
        int[] ends = new int[rows];
        for (int row = 0; row < rows; row++) {
            int length = values.locate(row);
            long before = forgotten.length();
            if (length == FieldText.NULL_VALUE) {
                isNull(row);
            } else {
                try {
                    if (type.kind() == DataType.Kind.JSONB) {
                        normalizer.normalize(forgotten, values.at, length);
                    } else {
                        structured.get().read(forgotten, type, values.at, length);
                    }
                } catch (MillraceException e) {
                    forgotten.truncate(before);
                    problems.report(row, name, e);
                    isNull(row);
                }
            }
            ends[row] = (int) forgotten.length();
        }
        boolean json = type.kind() == DataType.Kind.JSONB;
        Field stored = json ? column.field() : new Field(name, DataType.BYTEA, true);
        FieldVector vector = Vectors.allocate(stored, rows, forgotten.length(), allocator);
        try {
            Memory.copy(forgotten.address(), vector.getDataBufferAddress(), forgotten.length());
            for (int row = 0; row < rows; row++) {
                Memory.putInt(vector.getOffsetBufferAddress() + 4L * row + 4, ends[row]);
            }
            Vectors.setAllValid(vector, rows);
            for (int i = 0; i < nullCount; i++) {
                Memory.clearBit(vector.getValidityBufferAddress(), nullRows[i]);
            }
            Vectors.finish(vector, rows);
        } catch (RuntimeException | Error e) {
            vector.close();
            throw e;
        }
        if (json) {
            return vector;
        }
        try (vector) {
            return NestedCodec.values((BaseVariableWidthVector) vector, column.field(), rows, allocator);
        }
    }

    private void start(CsvIndex newIndex, long newBase) {
        index = newIndex;
        values.start(newIndex, newBase);
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
            int length = values.locate(row);
            if (length == FieldText.NULL_VALUE) {
                isNull(row);
            } else if (parser.tryBigint(values.at, length)) {
                Memory.putLong(data + (long) row * stride, parser.value());
            } else {
                failed(row, length);
            }
        }
    }

    private void parseInteger(long data, int stride) {
        int rows = index.rows;
        for (int row = 0; row < rows; row++) {
            int length = values.locate(row);
            if (length == FieldText.NULL_VALUE) {
                isNull(row);
            } else if (parser.tryInteger(values.at, length)) {
                Memory.putInt(data + (long) row * stride, (int) parser.value());
            } else {
                failed(row, length);
            }
        }
    }

    private void parseDouble(long data, int stride) {
        int rows = index.rows;
        for (int row = 0; row < rows; row++) {
            int length = values.locate(row);
            if (length == FieldText.NULL_VALUE) {
                isNull(row);
            } else if (parser.tryFloat8(values.at, length)) {
                Memory.putLong(data + (long) row * stride, parser.value());
            } else {
                failed(row, length);
            }
        }
    }

    private void parseTimestamp(long data, int stride, boolean zoned) {
        int rows = index.rows;
        for (int row = 0; row < rows; row++) {
            int length = values.locate(row);
            if (length == FieldText.NULL_VALUE) {
                isNull(row);
            } else if (zoned ? parser.tryTimestamptz(values.at, length) : parser.tryTimestamp(values.at, length)) {
                Memory.putLong(data + (long) row * stride, parser.value());
            } else {
                failed(row, length);
            }
        }
    }

    private void parseBoolean(long[] bits, int bitStride) {
        int rows = index.rows;
        for (int row = 0; row < rows; row++) {
            int length = values.locate(row);
            if (length == FieldText.NULL_VALUE) {
                isNull(row);
            } else if (parser.tryBool(values.at, length)) {
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
            int length = values.locate(row);
            if (length == FieldText.NULL_VALUE) {
                isNull(row);
            } else if (parser.tryParse(type, values.at, length)) {
                parser.store(type, data + (long) row * stride);
            } else {
                failed(row, length);
            }
        }
    }

    private void parseFormatted(TimestampFormat format, long data, int stride) {
        int rows = index.rows;
        for (int row = 0; row < rows; row++) {
            int length = values.locate(row);
            if (length == FieldText.NULL_VALUE) {
                isNull(row);
                continue;
            }
            if (!parser.tryTimestamp(format, values.at, length)) {
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
            int length = values.locate(row);
            if (length == FieldText.NULL_VALUE) {
                isNull(row);
            } else if (type.kind() == DataType.Kind.BYTEA) {
                if (!parser.tryBytea(values.at, length, forgotten.room(length))) {
                    failed(row, length);
                }
            } else if (type.kind() == DataType.Kind.BIGNUM) {
                if (!parser.tryBignum(type, values.at, length)) {
                    failed(row, length);
                }
            } else if (checked && !parser.tryText(type, values.at, length)) {
                failed(row, length);
            }
        }
    }

    private void loadText(BaseVariableWidthVector vector, boolean plain) {
        long data = vector.getDataBufferAddress();
        long offsets = vector.getOffsetBufferAddress();
        boolean bytes = type.kind() == DataType.Kind.BYTEA;
        boolean number = type.kind() == DataType.Kind.BIGNUM;
        boolean checked = !plain || type.precision() > 0;
        int rows = index.rows;
        int used = 0;
        for (int row = 0; row < rows; row++) {
            int length = values.locate(row);
            if (length == FieldText.NULL_VALUE) {
                isNull(row);
            } else if (bytes) {
                if (parser.tryBytea(values.at, length, data + used)) {
                    used += (int) parser.value();
                } else {
                    failed(row, length);
                }
            } else if (number) {
                if (parser.tryBignum(type, values.at, length)) {
                    long made = forgotten.room(parser.bignumBytes());
                    int kept = parser.storeBignum(made);
                    Memory.copy(made, data + used, kept);
                    used += kept;
                } else {
                    failed(row, length);
                }
            } else if (checked && !parser.tryText(type, values.at, length)) {
                failed(row, length);
            } else {
                int kept = checked ? ValueParser.keptLength(type, values.at, length) : length;
                copy(values.at, data + used, kept);
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
        boolean nul = Utf8.hasNul(values.at, length) && Utf8.isValid(values.at, length);
        MillraceException reason = nul
                ? MillraceException.user(
                        SqlState.CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\": 0x00")
                : parser.failure(type, values.at, length);
        problems.report(row, name, reason);
    }

    @Override
    public void close() {
        values.close();
        structured.ifPresent(NestedText::close);
        forgotten.close();
    }
}
