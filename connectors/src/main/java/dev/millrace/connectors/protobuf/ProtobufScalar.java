package dev.millrace.connectors.protobuf;

import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import dev.millrace.connectors.column.ValueTarget;
import java.math.BigDecimal;

/** Single values of fields that are no messages. */
final class ProtobufScalar {
    private ProtobufScalar() {}

    /** How a value of the type is written. */
    static int wire(FieldDescriptor.Type type) {
        return switch (type) {
            case DOUBLE, FIXED64, SFIXED64 -> ProtobufInput.FIXED64;
            case FLOAT, FIXED32, SFIXED32 -> ProtobufInput.FIXED32;
            case STRING, BYTES, MESSAGE -> ProtobufInput.BYTES;
            case GROUP -> ProtobufInput.GROUP;
            default -> ProtobufInput.VARINT;
        };
    }

    /** Puts the value that comes next. */
    static void put(FieldDescriptor field, ProtobufInput in, ValueTarget to) {
        switch (field.getType()) {
            case DOUBLE -> to.putDouble(Double.longBitsToDouble(in.readLong()));
            case FLOAT -> to.putFloat(Float.intBitsToFloat(in.readInt()));
            case INT64 -> to.putInteger(in.readVarint());
            case UINT64 -> unsigned(in.readVarint(), to);
            case FIXED64 -> unsigned(in.readLong(), to);
            case SFIXED64 -> to.putInteger(in.readLong());
            case INT32 -> to.putInteger((int) in.readVarint());
            case UINT32 -> to.putInteger(in.readVarint() & 0xffff_ffffL);
            case FIXED32 -> to.putInteger(in.readInt() & 0xffff_ffffL);
            case SFIXED32 -> to.putInteger(in.readInt());
            case SINT32 -> {
                int bits = (int) in.readVarint();
                to.putInteger(bits >>> 1 ^ -(bits & 1));
            }
            case SINT64 -> {
                long bits = in.readVarint();
                to.putInteger(bits >>> 1 ^ -(bits & 1));
            }
            case BOOL -> to.putBoolean(in.readVarint() != 0);
            case ENUM -> constant(field, (int) in.readVarint(), to);
            case STRING -> {
                int length = in.readLength();
                to.putText(in.address(), length);
                in.pass(length);
            }
            case BYTES -> {
                int length = in.readLength();
                to.putBytes(in.address(), length);
                in.pass(length);
            }
            case MESSAGE, GROUP -> throw new IllegalArgumentException(field + " is no single value");
        }
    }

    /** Puts what a field is that was not written. */
    static void putDefault(FieldDescriptor field, ValueTarget to) {
        Object value = field.getDefaultValue();
        switch (field.getJavaType()) {
            case INT, LONG -> to.putInteger(((Number) value).longValue());
            case FLOAT -> to.putFloat((Float) value);
            case DOUBLE -> to.putDouble((Double) value);
            case BOOLEAN -> to.putBoolean((Boolean) value);
            case STRING -> to.putText((String) value);
            case BYTE_STRING -> to.putText(""); // of bytes none
            case ENUM -> constant(field, ((EnumValueDescriptor) value).getNumber(), to);
            case MESSAGE -> to.putNull();
        }
    }

    private static void unsigned(long value, ValueTarget to) {
        if (value >= 0) {
            to.putInteger(value);
        } else {
            to.putDecimal(new BigDecimal(Long.toUnsignedString(value)));
        }
    }

    /** The name of an enumeration's constant, or its number where numbers are, or where it has no name. */
    private static void constant(FieldDescriptor field, int number, ValueTarget to) {
        EnumValueDescriptor named = field.getEnumType().findValueByNumber(number);
        if (named == null || to.type().isNumber()) {
            to.putInteger(number);
        } else {
            to.putText(named.getName());
        }
    }
}
