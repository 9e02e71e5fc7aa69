package dev.millrace.server.pgwire.value;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.ByteReader;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.Utf8Text;
import dev.millrace.text.ValueWriter;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import io.netty.buffer.ByteBuf;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.apache.arrow.memory.BufferAllocator;

/** Reads a value that a client sent in binary, into the text that would mean the same. */
public final class BinaryParameter {
    private static final int ROOM = 64;
    private static final int MOST_DIMENSIONS = 1;

    private BinaryParameter() {}

    /**
     * @param type what the value is declared or inferred to be
     * @param bytes exactly the value's bytes
     * @param number of the parameter from 1, for errors
     */
    public static String text(DataType type, ByteBuf bytes, int number, BufferAllocator allocator) {
        byte[] copy = new byte[bytes.readableBytes()];
        bytes.readBytes(copy);
        long address = Memory.allocate(Math.max(1, copy.length));
        try {
            Memory.copyIn(copy, 0, address, copy.length);
            ByteReader in = new ByteReader(address, copy.length);
            String text = read(type, in, allocator);
            if (in.remaining() > 0) {
                throw malformed(type, number);
            }
            return text;
        } catch (ByteReader.OutOfBytes e) {
            throw malformed(type, number);
        } finally {
            Memory.free(address);
        }
    }

    private static MillraceException malformed(DataType type, int number) {
        return MillraceException.user(
                SqlState.INVALID_BINARY_REPRESENTATION,
                "incorrect binary data format in bind parameter " + number + ", which is of type " + type);
    }

    /**
     * The text of a value that the reader has next; of a text, BYTEA or JSON value it is all that the reader has left.
     *
     * @throws ByteReader.OutOfBytes when there are fewer bytes than the value says
     * @throws MillraceException 22P03 for what is no value of the type
     */
    public static String read(DataType type, ByteReader in, BufferAllocator allocator) {
        return switch (type.kind()) {
            case BOOLEAN -> in.readByte() != 0 ? "true" : "false";
            case SMALLINT -> String.valueOf(in.readShort());
            case INTEGER -> String.valueOf(in.readInt());
            case BIGINT -> String.valueOf(in.readLong());
            case REAL -> String.valueOf(Float.intBitsToFloat(in.readInt()));
            case DOUBLE -> String.valueOf(Double.longBitsToDouble(in.readLong()));
            case NUMERIC -> BinaryForm.numeric(in);
            case BIGNUM -> BinaryForm.bignum(in);
            case TEXT, VARCHAR, CHAR, NULL -> Utf8Text.decode(rest(in));
            case JSONB -> {
                BinaryForm.jsonbVersion(in);
                yield Utf8Text.decode(rest(in));
            }
            case BYTEA -> "\\x" + HexFormat.of().formatHex(rest(in));
            case UUID -> new UUID(in.readLong(), in.readLong()).toString();
            case DATE -> {
                long days = BinaryForm.date(in);
                yield written(allocator, out -> ValueWriter.date(out, days));
            }
            case TIME -> {
                long micros = BinaryForm.time(in);
                yield written(allocator, out -> ValueWriter.time(out, micros));
            }
            case TIMESTAMP -> {
                long micros = BinaryForm.timestamp(in);
                yield written(allocator, out -> ValueWriter.timestamp(out, micros));
            }
            case TIMESTAMPTZ -> {
                long micros = BinaryForm.timestamp(in);
                yield written(allocator, out -> ValueWriter.timestamptz(out, micros));
            }
            case INTERVAL -> {
                long micros = BinaryForm.intervalMicros(in);
                int days = in.readInt();
                int months = in.readInt();
                yield written(allocator, out -> ValueWriter.interval(out, months, days, micros));
            }
            case ARRAY -> array(type.element(), in, allocator);
            case ROW -> row(type, in, allocator);
        };
    }

    private static byte[] rest(ByteReader in) {
        byte[] bytes = new byte[(int) in.remaining()];
        Memory.copyOut(in.take(bytes.length), bytes, 0, bytes.length);
        return bytes;
    }

    private interface Writing {
        void to(TextBuffer out);
    }

    private static String written(BufferAllocator allocator, Writing writing) {
        try (TextBuffer out = new TextBuffer(allocator, ROOM)) {
            writing.to(out);
            return out.toString();
        }
    }

    private static String array(DataType element, ByteReader in, BufferAllocator allocator) {
        int dimensions = in.readInt();
        in.readInt(); // whether there are NULLs
        in.readInt(); // the element's type, which the parameter's says already
        if (dimensions == 0) {
            return "{}";
        }
        if (dimensions < 0) {
            throw BinaryForm.malformed(DataType.array(element));
        }
        if (dimensions > MOST_DIMENSIONS) {
            throw MillraceException.notAvailableYet("an array of several dimensions as a parameter in binary");
        }
        int count = in.readInt();
        in.readInt(); // the first subscript
        if (count < 0 || !in.has((long) Integer.BYTES * count)) {
            throw BinaryForm.malformed(DataType.array(element));
        }
        StringBuilder text = new StringBuilder("{");
        for (int i = 0; i < count; i++) {
            text.append(i > 0 ? "," : "");
            Optional<String> value = withLength(element, in, allocator);
            boolean braces = element.kind() == DataType.Kind.ARRAY;
            text.append(value.map(some -> braces ? some : quoted(some)).orElse("NULL"));
        }
        return text.append('}').toString();
    }

    /** A count, and of each field its type, which that of the value says already, and the value. */
    private static String row(DataType type, ByteReader in, BufferAllocator allocator) {
        List<Field> fields = type.fields();
        if (in.readInt() != fields.size()) {
            throw BinaryForm.malformed(type);
        }
        StringBuilder text = new StringBuilder("(");
        for (int i = 0; i < fields.size(); i++) {
            DataType field = fields.get(i).type();
            if (in.readInt() != PgType.oidOf(field)) {
                throw BinaryForm.malformed(type);
            }
            text.append(i > 0 ? "," : "");
            text.append(withLength(field, in, allocator)
                    .map(BinaryParameter::quoted)
                    .orElse(""));
        }
        return text.append(')').toString();
    }

    /** Nothing for a length of -1, which is NULL. */
    private static Optional<String> withLength(DataType type, ByteReader in, BufferAllocator allocator) {
        int length = in.readInt();
        if (length < -1) {
            throw BinaryForm.malformed(type);
        }
        if (length == -1) {
            return Optional.empty();
        }
        long behind = in.narrow(length);
        String value = read(type, in, allocator);
        if (in.remaining() > 0) {
            throw BinaryForm.malformed(type);
        }
        in.widen(behind);
        return Optional.of(value);
    }

    private static String quoted(String value) {
        return '"' + value.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
