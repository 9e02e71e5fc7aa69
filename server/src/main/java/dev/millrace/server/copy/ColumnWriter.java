package dev.millrace.server.copy;

import dev.millrace.batch.NestedCodec;
import dev.millrace.batch.Vectors;
import dev.millrace.json.JsonNormalizer;
import dev.millrace.memory.ByteReader;
import dev.millrace.memory.Memory;
import dev.millrace.nested.NestedText;
import dev.millrace.server.pgwire.value.BinaryForm;
import dev.millrace.server.pgwire.value.BinaryParameter;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeStyle;
import dev.millrace.text.ValueParser;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.nio.charset.StandardCharsets;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;

/** Fills one column, value by value, from text or binary forms. */
final class ColumnWriter implements AutoCloseable {
    private static final long NANOS_PER_MICRO = 1000;
    private static final int TEXT_BYTES_PER_ROW = 16;

    private final Field field;
    private final DataType type;
    private final Field stored; // what its vector is of until it is finished: images of arrays and rows
    private final int width;
    private final int capacity;
    private final BufferAllocator allocator;
    private final ValueParser parser = new ValueParser();
    private TimeStyle style = TimeStyle.PLAIN;
    private FieldVector vector;
    private boolean isOwner; // of the vector: not after finish
    private long validity;
    private long data;
    private long offsets;
    private int textBytes;

    /** @param capacity rows of a batch */
    ColumnWriter(Field field, int capacity, BufferAllocator allocator) {
        this.field = field;
        this.type = field.type();
        this.stored = type.isNested() ? new Field(field.name(), DataType.BYTEA, true) : field;
        this.width = isVariable() || type.kind() == DataType.Kind.BOOLEAN ? 0 : type.fixedWidth();
        this.capacity = capacity;
        this.allocator = allocator;
        begin();
    }

    /** Reads dates and times in a style. */
    void inStyle(TimeStyle wanted) {
        parser.inStyle(wanted);
        style = wanted;
    }

    private boolean isVariable() {
        return type.isBytes() || type.isNested();
    }

    private void begin() {
        vector = Vectors.allocate(stored, capacity, (long) TEXT_BYTES_PER_ROW * capacity, allocator);
        isOwner = true;
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
            case BIGNUM -> bignum(row, address, length);
            case BYTEA -> {
                room(length);
                textBytes += parser.bytea(address, length, data + textBytes);
                Memory.putInt(offsets + 4L * row + 4, textBytes);
            }
            case ARRAY, ROW -> nested(row, address, length);
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

    private void bignum(int row, long address, int length) {
        parser.bignum(type, address, length);
        room(parser.bignumBytes());
        textBytes += parser.storeBignum(data + textBytes);
        Memory.putInt(offsets + 4L * row + 4, textBytes);
    }

    private void json(int row, long address, int length) {
        try (TextBuffer normal = new TextBuffer(allocator, Math.max(16, 2L * length))) {
            new JsonNormalizer().normalize(normal, address, length);
            append(row, normal.address(), (int) normal.length());
        }
    }

    private void nested(int row, long address, int length) {
        try (TextBuffer image = new TextBuffer(allocator, Math.max(16, 2L * length));
                NestedText reading = new NestedText(
                        allocator, (out, json, bytes) -> new JsonNormalizer().normalize(out, json, bytes))) {
            reading.inStyle(style);
            reading.read(image, type, address, length);
            append(row, image.address(), Math.toIntExact(image.length()));
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

    /** Sets a value from PostgreSQL's binary form, which is all that the reader has left. */
    void putBinary(int row, ByteReader in) {
        Memory.setBit(validity, row);
        try {
            readBinary(row, in);
        } catch (ByteReader.OutOfBytes e) {
            throw BinaryForm.malformed(type);
        }
        if (in.remaining() > 0) {
            throw BinaryForm.malformed(type);
        }
    }

    private void readBinary(int row, ByteReader in) {
        switch (type.kind()) {
            case BOOLEAN -> {
                if (in.readByte() != 0) {
                    Memory.setBit(data, row);
                }
            }
            case SMALLINT -> Memory.putShort(data + 2L * row, in.readShort());
            case INTEGER, REAL -> Memory.putInt(data + 4L * row, in.readInt());
            case DATE -> Memory.putInt(data + 4L * row, BinaryForm.date(in));
            case BIGINT, DOUBLE -> Memory.putLong(data + 8L * row, in.readLong());
            case TIME -> Memory.putLong(data + 8L * row, BinaryForm.time(in));
            case TIMESTAMP, TIMESTAMPTZ -> Memory.putLong(data + 8L * row, BinaryForm.timestamp(in));
            case INTERVAL -> {
                long at = data + 16L * row;
                Memory.putLong(at + 8, BinaryForm.intervalMicros(in) * NANOS_PER_MICRO);
                Memory.putInt(at + 4, in.readInt());
                Memory.putInt(at, in.readInt());
            }
            case UUID -> Memory.copy(in.take(16), data + 16L * row, 16);
            case TEXT, VARCHAR, CHAR -> {
                int length = (int) in.remaining();
                long address = in.take(length);
                check(parser.tryText(type, address, length), address, length);
                append(row, address, ValueParser.keptLength(type, address, length));
            }
            case JSONB -> {
                BinaryForm.jsonbVersion(in);
                int length = (int) in.remaining();
                json(row, in.take(length), length);
            }
            case BYTEA -> {
                int length = (int) in.remaining();
                append(row, in.take(length), length);
            }
            case NUMERIC ->
                ofText(BinaryForm.numeric(in), (at, length) -> parser.numeric(type, at, length, data + 16L * row));
            case BIGNUM -> ofText(BinaryForm.bignum(in), (at, length) -> bignum(row, at, length));
            case ARRAY, ROW -> {
                try (TextBuffer text = new TextBuffer(allocator, TEXT_BYTES_PER_ROW)) {
                    text.append(BinaryParameter.read(type, in, allocator).getBytes(StandardCharsets.UTF_8));
                    nested(row, text.address(), Math.toIntExact(text.length()));
                }
            }
            case NULL -> throw new IllegalStateException("no column is of type " + type);
        }
    }

    private interface Reading {
        void of(long address, int length);
    }

    private static void ofText(String text, Reading reading) {
        byte[] ascii = text.getBytes(StandardCharsets.US_ASCII);
        long copy = Memory.allocate(ascii.length);
        try {
            Memory.copyIn(ascii, 0, copy, ascii.length);
            reading.of(copy, ascii.length);
        } finally {
            Memory.free(copy);
        }
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
        if (type.isNested()) {
            FieldVector values = NestedCodec.values((BaseVariableWidthVector) vector, field, rows, allocator);
            vector.close();
            vector = values;
        }
        isOwner = false;
        return vector;
    }

    @Override
    public void close() {
        if (isOwner) {
            vector.close();
        }
    }
}
