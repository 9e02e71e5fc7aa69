package dev.millrace.server.pgwire.value;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.ValueWriter;
import dev.millrace.type.DataType;
import io.netty.buffer.ByteBuf;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.UUID;
import org.apache.arrow.memory.BufferAllocator;

/** Reads a value that a client sent in binary, into the text that would mean the same. */
public final class BinaryParameter {
    private static final int ROOM = 64;
    private static final int NUMERIC_BASE_DIGITS = 4;
    private static final int NEGATIVE = 0x4000;
    private static final int NOT_A_NUMBER = 0xC000;
    private static final int MOST_DIMENSIONS = 1;

    private BinaryParameter() {}

    /**
     * @param type what the value is declared or inferred to be
     * @param bytes exactly the value's bytes
     * @param number of the parameter from 1, for errors
     */
    public static String text(DataType type, ByteBuf bytes, int number, BufferAllocator allocator) {
        String text;
        try {
            text = read(type, bytes, allocator);
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            throw malformed(type, number);
        }
        if (bytes.isReadable()) {
            throw malformed(type, number);
        }
        return text;
    }

    private static MillraceException malformed(DataType type, int number) {
        return MillraceException.user(
                SqlState.INVALID_BINARY_REPRESENTATION,
                "incorrect binary data format in bind parameter " + number + ", which is of type " + type);
    }

    private static String read(DataType type, ByteBuf in, BufferAllocator allocator) {
        return switch (type.kind()) {
            case BOOLEAN -> in.readByte() != 0 ? "true" : "false";
            case SMALLINT -> String.valueOf(in.readShort());
            case INTEGER -> String.valueOf(in.readInt());
            case BIGINT -> String.valueOf(in.readLong());
            case REAL -> String.valueOf(in.readFloat());
            case DOUBLE -> String.valueOf(in.readDouble());
            case NUMERIC -> numeric(in);
            case TEXT, VARCHAR, CHAR, NULL ->
                in.readCharSequence(in.readableBytes(), StandardCharsets.UTF_8).toString();
            case JSONB -> {
                in.readByte(); // the form's version
                yield in.readCharSequence(in.readableBytes(), StandardCharsets.UTF_8)
                        .toString();
            }
            case BYTEA -> {
                byte[] bytes = new byte[in.readableBytes()];
                in.readBytes(bytes);
                yield "\\x" + HexFormat.of().formatHex(bytes);
            }
            case UUID -> new UUID(in.readLong(), in.readLong()).toString();
            case DATE -> {
                long days = in.readInt() + (long) BinaryValues.DAYS_TO_2000;
                yield written(allocator, out -> ValueWriter.date(out, days));
            }
            case TIME -> {
                long micros = in.readLong();
                yield written(allocator, out -> ValueWriter.time(out, micros));
            }
            case TIMESTAMP -> {
                long micros = in.readLong() + BinaryValues.MICROS_TO_2000;
                yield written(allocator, out -> ValueWriter.timestamp(out, micros));
            }
            case TIMESTAMPTZ -> {
                long micros = in.readLong() + BinaryValues.MICROS_TO_2000;
                yield written(allocator, out -> ValueWriter.timestamptz(out, micros));
            }
            case INTERVAL -> {
                long micros = in.readLong();
                int days = in.readInt();
                int months = in.readInt();
                yield written(allocator, out -> ValueWriter.interval(out, months, days, micros));
            }
            case ARRAY -> array(type.element(), in, allocator);
            case ROW -> throw MillraceException.notAvailableYet("a row as a parameter in binary");
        };
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

    private static String numeric(ByteBuf in) {
        int digits = in.readUnsignedShort();
        int weight = in.readShort();
        int sign = in.readUnsignedShort();
        int scale = in.readUnsignedShort();
        if (sign == NOT_A_NUMBER) {
            return "NaN";
        }
        BigInteger unscaled = BigInteger.ZERO;
        for (int i = 0; i < digits; i++) {
            unscaled = unscaled.multiply(BigInteger.valueOf(10_000)).add(BigInteger.valueOf(in.readUnsignedShort()));
        }
        int places = (digits - 1 - weight) * NUMERIC_BASE_DIGITS;
        BigDecimal value = new BigDecimal(sign == NEGATIVE ? unscaled.negate() : unscaled, places);
        return value.setScale(Math.max(scale, 0), RoundingMode.HALF_UP).toPlainString();
    }

    private static String array(DataType element, ByteBuf in, BufferAllocator allocator) {
        int dimensions = in.readInt();
        in.readInt(); // whether there are NULLs
        in.readInt(); // the element's type, which the parameter's says already
        if (dimensions == 0) {
            return "{}";
        }
        if (dimensions > MOST_DIMENSIONS) {
            throw MillraceException.notAvailableYet("an array of several dimensions as a parameter in binary");
        }
        int count = in.readInt();
        in.readInt(); // the first subscript
        StringBuilder text = new StringBuilder("{");
        for (int i = 0; i < count; i++) {
            text.append(i > 0 ? "," : "");
            int length = in.readInt();
            if (length < 0) {
                text.append("NULL");
            } else {
                String value = read(element, in.readSlice(length), allocator);
                text.append('"')
                        .append(value.replace("\\", "\\\\").replace("\"", "\\\""))
                        .append('"');
            }
        }
        return text.append('}').toString();
    }
}
