package dev.millrace.engine.group;

import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.type.DataType;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Literals as bytes, which take a fifth of what they do as objects: idle members have nothing else. Of the types that literals of a form have
 * ({@code GroupForm}); eight bytes of a number, sixteen of a UUID, others with their length. Stateless.
 */
final class PackedLiterals {
    private static final int SHORT = 0xFF; // bytes; of more the length is behind this one

    private PackedLiterals() {}

    static byte[] pack(List<Literal> literals) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            for (Literal literal : literals) {
                write(literal, out);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("bytes in memory can be written", e);
        }
        return bytes.toByteArray();
    }

    /** @param types of the literals that were packed */
    static List<Literal> unpack(byte[] packed, List<DataType> types) {
        List<Literal> literals = new ArrayList<>(types.size());
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(packed))) {
            for (DataType type : types) {
                literals.add(new Literal(read(type, in), type));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("bytes in memory can be read", e);
        }
        return literals;
    }

    private static void write(Literal literal, DataOutputStream out) throws IOException {
        switch (literal.type().kind()) {
            case SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> out.writeLong((Long) literal.value());
            case REAL, DOUBLE -> out.writeDouble((Double) literal.value());
            case NUMERIC -> write(((BigDecimal) literal.value()).unscaledValue().toByteArray(), out);
            case TEXT, VARCHAR -> write(((String) literal.value()).getBytes(StandardCharsets.UTF_8), out);
            case UUID -> {
                UUID uuid = (UUID) literal.value();
                out.writeLong(uuid.getMostSignificantBits());
                out.writeLong(uuid.getLeastSignificantBits());
            }
            case BOOLEAN, CHAR, BIGNUM, JSONB, BYTEA, INTERVAL, ARRAY, ROW, NULL -> throw isNone(literal.type());
        }
    }

    private static Object read(DataType type, DataInputStream in) throws IOException {
        return switch (type.kind()) {
            case SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> in.readLong();
            case REAL, DOUBLE -> in.readDouble();
            case NUMERIC -> new BigDecimal(new BigInteger(readBytes(in)), type.scale());
            case TEXT, VARCHAR -> new String(readBytes(in), StandardCharsets.UTF_8);
            case UUID -> new UUID(in.readLong(), in.readLong());
            case BOOLEAN, CHAR, BIGNUM, JSONB, BYTEA, INTERVAL, ARRAY, ROW, NULL -> throw isNone(type);
        };
    }

    private static void write(byte[] bytes, DataOutputStream out) throws IOException {
        out.writeByte(Math.min(bytes.length, SHORT));
        if (bytes.length >= SHORT) {
            out.writeInt(bytes.length);
        }
        out.write(bytes);
    }

    private static byte[] readBytes(DataInputStream in) throws IOException {
        int length = in.readUnsignedByte();
        return in.readNBytes(length == SHORT ? in.readInt() : length);
    }

    private static IllegalArgumentException isNone(DataType type) {
        return new IllegalArgumentException("no literal of a form is of type " + type);
    }
}
