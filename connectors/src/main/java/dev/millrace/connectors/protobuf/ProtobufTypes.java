package dev.millrace.connectors.protobuf;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The columns that a message type looks to have. */
final class ProtobufTypes {
    private static final Set<String> WRAPPERS = Set.of(
            "DoubleValue",
            "FloatValue",
            "Int64Value",
            "UInt64Value",
            "Int32Value",
            "UInt32Value",
            "BoolValue",
            "StringValue",
            "BytesValue");

    private ProtobufTypes() {}

    /** Whether it is of {@code google.protobuf} and only says that a value is there. */
    static boolean isWrapper(Descriptor message) {
        return message.getFullName().startsWith("google.protobuf.") && WRAPPERS.contains(message.getName());
    }

    /** Fields by their names in lower case, which may all be NULL, as a later type may lack them. */
    static Schema columns(Descriptor message) {
        Set<String> names = new LinkedHashSet<>();
        List<Field> fields = new ArrayList<>();
        for (FieldDescriptor field : message.getFields()) {
            String name = field.getName().toLowerCase(Locale.ROOT);
            fields.add(new Field(names.add(name) ? name : field.getName(), type(field), true));
        }
        return new Schema(fields);
    }

    private static DataType type(FieldDescriptor field) {
        DataType single = single(field);
        if (!field.isRepeated()) {
            return single;
        }
        boolean isPlain = field.getJavaType() != FieldDescriptor.JavaType.MESSAGE;
        return isPlain ? DataType.array(single) : DataType.JSONB;
    }

    private static DataType single(FieldDescriptor field) {
        return switch (field.getType()) {
            case DOUBLE -> DataType.DOUBLE;
            case FLOAT -> DataType.REAL;
            case INT32, SINT32, SFIXED32 -> DataType.INTEGER;
            case INT64, SINT64, SFIXED64, UINT32, FIXED32 -> DataType.BIGINT;
            case UINT64, FIXED64 -> DataType.numeric(20, 0);
            case BOOL -> DataType.BOOLEAN;
            case STRING, ENUM -> DataType.TEXT;
            case BYTES -> DataType.BYTEA;
            case GROUP -> DataType.JSONB;
            case MESSAGE -> {
                if (isWrapper(field.getMessageType())) {
                    yield single(field.getMessageType().findFieldByNumber(1));
                }
                yield switch (field.getMessageType().getFullName()) {
                    case "google.protobuf.Timestamp" -> DataType.TIMESTAMPTZ;
                    case "google.protobuf.Duration" -> DataType.INTERVAL;
                    default -> DataType.JSONB;
                };
            }
        };
    }
}
