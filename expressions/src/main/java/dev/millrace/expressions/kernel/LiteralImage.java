package dev.millrace.expressions.kernel;

import dev.millrace.number.Bignum;
import dev.millrace.number.BignumBytes;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The image ({@link dev.millrace.nested}) of an array or row literal. */
public final class LiteralImage {
    private ByteBuffer buffer = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);

    private LiteralImage() {}

    /** The image's bytes. */
    public static byte[] of(Literal literal) {
        LiteralImage image = new LiteralImage();
        image.write(literal.type(), literal.value());
        return Arrays.copyOf(image.buffer.array(), image.buffer.position());
    }

    private ByteBuffer room(int bytes) {
        if (buffer.remaining() < bytes) {
            byte[] larger = Arrays.copyOf(buffer.array(), 2 * (buffer.position() + bytes));
            buffer = ByteBuffer.wrap(larger).order(ByteOrder.LITTLE_ENDIAN).position(buffer.position());
        }
        return buffer;
    }

    private void write(DataType type, Object value) {
        switch (type.kind()) {
            case BOOLEAN -> room(1).put((byte) ((Boolean) value ? 1 : 0));
            case SMALLINT -> room(2).putShort(((Long) value).shortValue());
            case INTEGER, DATE -> room(4).putInt(((Long) value).intValue());
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> room(8).putLong((Long) value);
            case REAL -> room(4).putFloat(((Double) value).floatValue());
            case DOUBLE -> room(8).putDouble((Double) value);
            case NUMERIC -> {
                BigInteger unscaled = ((BigDecimal) value).unscaledValue();
                room(16).putLong(unscaled.longValue());
                room(16).putLong(unscaled.shiftRight(64).longValue());
            }
            case BIGNUM -> {
                byte[] number = ((Bignum) value).toBytes();
                bytes(Arrays.copyOf(number, BignumBytes.keyLength(number.length)));
            }
            case TEXT, VARCHAR, CHAR, JSONB -> bytes(((String) value).getBytes(StandardCharsets.UTF_8));
            case BYTEA -> {
                List<?> list = (List<?>) value;
                byte[] bytes = new byte[list.size()];
                for (int i = 0; i < bytes.length; i++) {
                    bytes[i] = (Byte) list.get(i);
                }
                bytes(bytes);
            }
            case INTERVAL -> {
                IntervalValue interval = (IntervalValue) value;
                room(16).putInt(interval.months()).putInt(interval.days());
                room(16).putLong(interval.micros() * 1000);
            }
            case UUID -> {
                UUID uuid = (UUID) value;
                room(16).putLong(Long.reverseBytes(uuid.getMostSignificantBits()));
                room(16).putLong(Long.reverseBytes(uuid.getLeastSignificantBits()));
            }
            case ARRAY -> {
                List<?> elements = (List<?>) value;
                room(4).putInt(elements.size());
                for (Object element : elements) {
                    element(type.element(), element);
                }
            }
            case ROW -> {
                List<?> values = (List<?>) value;
                for (int i = 0; i < values.size(); i++) {
                    element(type.fields().get(i).type(), values.get(i));
                }
            }
            case NULL -> throw new IllegalArgumentException("a NULL is Expression.Null");
        }
    }

    private void element(DataType type, Object value) {
        room(1).put((byte) (value instanceof Optional ? 0 : 1));
        if (!(value instanceof Optional)) {
            write(type, value);
        }
    }

    private void bytes(byte[] bytes) {
        room(4 + bytes.length).putInt(bytes.length).put(bytes);
    }
}
