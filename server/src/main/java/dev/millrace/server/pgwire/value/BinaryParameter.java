package dev.millrace.server.pgwire.value;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.ByteReader;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.Utf8Text;
import dev.millrace.text.ValueWriter;
import dev.millrace.type.DataType;
import io.netty.buffer.ByteBuf;
import java.util.HexFormat;
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

    private static String read(DataType type, ByteReader in, BufferAllocator allocator) {
        return switch (type.kind()) {
            case BOOLEAN -> in.readByte() != 0 ? "true" : "false";
            case SMALLINT -> String.valueOf(in.readShort());
            case INTEGER -> String.valueOf(in.readInt());
            case BIGINT -> String.valueOf(in.readLong());
            case REAL -> String.valueOf(Float.intBitsToFloat(in.readInt()));
            case DOUBLE -> String.valueOf(Double.longBitsToDouble(in.readLong()));
            case NUMERIC -> BinaryForm.numeric(in);
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
            case ROW -> throw MillraceException.notAvailableYet("a row as a parameter in binary");
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
            int length = in.readInt();
            if (length < -1) {
                throw BinaryForm.malformed(DataType.array(element));
            }
            if (length == -1) {
                text.append("NULL");
            } else {
                long behind = in.narrow(length);
                String value = read(element, in, allocator);
                if (in.remaining() > 0) {
                    throw BinaryForm.malformed(element);
                }
                in.widen(behind);
                text.append('"')
                        .append(value.replace("\\", "\\\\").replace("\"", "\\\""))
                        .append('"');
            }
        }
        return text.append('}').toString();
    }
}
