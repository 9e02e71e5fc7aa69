package dev.millrace.server.copy;

import dev.millrace.batch.Memory;
import dev.millrace.batch.Vectors;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.json.JsonNormalizer;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.ValueParser;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.nio.charset.StandardCharsets;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;

/** Fills one column, value by value, from text or binary forms. */
final class ColumnWriter implements AutoCloseable {
    private static final int DAYS_TO_2000 = 10_957;
    private static final long MICROS_TO_2000 = DAYS_TO_2000 * 86_400_000_000L;
    private static final long NANOS_PER_MICRO = 1000;
    private static final int TEXT_BYTES_PER_ROW = 16;

    private final Field field;
    private final DataType type;
    private final int width;
    private final int capacity;
    private final BufferAllocator allocator;
    private final ValueParser parser = new ValueParser();
    private FieldVector vector; // null after finish
    private long validity;
    private long data;
    private long offsets;
    private int textBytes;

    /** @param capacity rows of a batch */
    ColumnWriter(Field field, int capacity, BufferAllocator allocator) {
        this.field = field;
        this.type = field.type();
        if (type.isNested()) {
            throw MillraceException.notAvailableYet("COPY of column \"" + field.name() + "\" of type " + type)
                    .withHint("INSERT takes such values");
        }
        this.width = isVariable() || type.kind() == DataType.Kind.BOOLEAN ? 0 : type.fixedWidth();
        this.capacity = capacity;
        this.allocator = allocator;
        begin();
    }

    private boolean isVariable() {
        return type.isText() || type.kind() == DataType.Kind.BYTEA;
    }

    private void begin() {
        vector = Vectors.allocate(field, capacity, (long) TEXT_BYTES_PER_ROW * capacity, allocator);
        textBytes = 0;
        locate();
        if (type.kind() == DataType.Kind.BOOLEAN) {
            Memory.fill(data, (capacity + 7) >>> 3, (byte) 0);
        }
    }

    private void locate() {
        validity = vector.getValidityBufferAddress();
        data = vector.getDataBufferAddress();
        offsets = isVariable() ? ((BaseVariableWidthVector) vector).getOffsetBufferAddress() : 0;
    }

    /** Sets NULL. */
    void putNull(int row) {
        if (isVariable()) {
            Memory.putInt(offsets + 4L * row + 4, textBytes);
        }
    }

    /** Sets a value from its text. */
    void putText(int row, long address, int length) {
        Memory.setBit(validity, row);
        switch (type.kind()) {
            case BIGINT -> Memory.putLong(data + 8L * row, parser.bigint(address, length));
            case INTEGER -> Memory.putInt(data + 4L * row, parser.integer(address, length));
            case DOUBLE -> Memory.putDouble(data + 8L * row, parser.float8(address, length));
            case TIMESTAMP -> Memory.putLong(data + 8L * row, parser.timestamp(address, length));
            case TIMESTAMPTZ -> Memory.putLong(data + 8L * row, parser.timestamptz(address, length));
            case BOOLEAN -> {
                if (parser.bool(address, length)) {
                    Memory.setBit(data, row);
                }
            }
            case TEXT, VARCHAR, CHAR -> {
                check(parser.tryText(type, address, length), address, length);
                append(row, address, ValueParser.keptLength(type, address, length));
            }
            case JSONB -> json(row, address, length);
            case BYTEA -> {
                room(length);
                textBytes += parser.bytea(address, length, data + textBytes);
                Memory.putInt(offsets + 4L * row + 4, textBytes);
            }
            default -> {
                check(parser.tryParse(type, address, length), address, length);
                parser.store(type, data + (long) width * row);
            }
        }
    }

    private void check(boolean parsed, long address, int length) {
        if (!parsed) {
            throw parser.failure(type, address, length);
        }
    }

    private void json(int row, long address, int length) {
        try (TextBuffer normal = new TextBuffer(allocator, Math.max(16, 2L * length))) {
            new JsonNormalizer().normalize(normal, address, length);
            append(row, normal.address(), (int) normal.length());
        }
    }

    private void append(int row, long address, int length) {
        room(length);
        Memory.copy(address, data + textBytes, length);
        textBytes += length;
        Memory.putInt(offsets + 4L * row + 4, textBytes);
    }

    private void room(int length) {
        if (textBytes + (long) length > Vectors.dataCapacity(vector)) {
            Vectors.growData((BaseVariableWidthVector) vector, textBytes, textBytes + (long) length);
            locate();
        }
    }

    /** Sets a value from PostgreSQL's binary form. */
    void putBinary(int row, long address, int length) {
        Memory.setBit(validity, row);
        switch (type.kind()) {
            case BOOLEAN -> {
                requireLength(1, length);
                if (Memory.getByte(address) != 0) {
                    Memory.setBit(data, row);
                }
            }
            case SMALLINT -> {
                requireLength(2, length);
                Memory.putShort(data + 2L * row, Short.reverseBytes(Memory.getShort(address)));
            }
            case INTEGER, REAL -> Memory.putInt(data + 4L * row, fourBytes(address, length));
            case DATE -> Memory.putInt(data + 4L * row, fourBytes(address, length) + DAYS_TO_2000);
            case BIGINT, DOUBLE, TIME -> Memory.putLong(data + 8L * row, eightBytes(address, length));
            case TIMESTAMP, TIMESTAMPTZ ->
                Memory.putLong(data + 8L * row, eightBytes(address, length) + MICROS_TO_2000);
            case INTERVAL -> {
                requireLength(16, length);
                long at = data + 16L * row;
                Memory.putInt(at, Integer.reverseBytes(Memory.getInt(address + 12)));
                Memory.putInt(at + 4, Integer.reverseBytes(Memory.getInt(address + 8)));
                Memory.putLong(at + 8, eightBytes(address, 8) * NANOS_PER_MICRO);
            }
            case UUID -> {
                requireLength(16, length);
                Memory.copy(address, data + 16L * row, 16);
            }
            case TEXT, VARCHAR, CHAR -> {
                check(parser.tryText(type, address, length), address, length);
                append(row, address, ValueParser.keptLength(type, address, length));
            }
            case JSONB -> {
                if (length < 1) {
                    throw malformed();
                }
                json(row, address + 1, length - 1); // behind the form's version
            }
            case BYTEA -> append(row, address, length);
            case NUMERIC -> numeric(row, address, length);
            case ARRAY, ROW, NULL -> throw new IllegalStateException("refused before: " + type);
        }
    }

    private void numeric(int row, long address, int length) {
        String text = BinaryNumeric.text(address, length).orElseThrow(this::malformed);
        byte[] ascii = text.getBytes(StandardCharsets.US_ASCII);
        long copy = Memory.allocate(ascii.length);
        try {
            Memory.copyIn(ascii, 0, copy, ascii.length);
            parser.numeric(type, copy, ascii.length, data + 16L * row);
        } finally {
            Memory.free(copy);
        }
    }

    private int fourBytes(long address, int length) {
        requireLength(4, length);
        return Integer.reverseBytes(Memory.getInt(address));
    }

    private long eightBytes(long address, int length) {
        requireLength(8, length);
        return Long.reverseBytes(Memory.getLong(address));
    }

    private void requireLength(int expected, int actual) {
        if (expected != actual) {
            throw malformed();
        }
    }

    private MillraceException malformed() {
        return MillraceException.user(
                SqlState.INVALID_BINARY_REPRESENTATION, "incorrect binary data format for type " + type);
    }

    /** The column so far, whose owner is the caller; the writer begins anew. */
    FieldVector take(int rows) {
        FieldVector full = finish(rows);
        begin();
        return full;
    }

    /** The column, whose owner is the caller; the writer is of no use after that but to be closed. */
    FieldVector finish(int rows) {
        Vectors.finish(vector, rows);
        FieldVector full = vector;
        vector = null;
        return full;
    }

    @Override
    public void close() {
        if (vector != null) {
            vector.close();
        }
    }
}
