package dev.millrace.connectors.protobuf;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;

/** The message type of some columns, as the text of a proto3 file: column i is field i + 1. */
final class ProtobufText {
    private ProtobufText() {}

    static String of(Schema columns) {
        StringBuilder text = new StringBuilder("syntax = \"proto3\";\npackage millrace;\n");
        StringBuilder message = new StringBuilder();
        message("row", columns.fields(), "", message);
        if (message.indexOf("google.protobuf.Timestamp") >= 0) {
            text.append("import \"google/protobuf/timestamp.proto\";\n");
        }
        return text.append(message).toString();
    }

    private static void message(String name, List<Field> fields, String indent, StringBuilder text) {
        text.append(indent).append("message ").append(name).append(" {\n");
        String within = indent + "  ";
        for (int i = 0; i < fields.size(); i++) {
            Field field = fields.get(i);
            if (!field.name().matches("[A-Za-z_][A-Za-z0-9_]*")) {
                throw MillraceException.user(
                                SqlState.INVALID_PARAMETER_VALUE,
                                "column \"" + field.name()
                                        + "\" cannot be a field of protobuf: a name has letters, digits and _")
                        .withHint("SELECT .. AS another_name");
            }
            boolean isArray = field.type().kind() == DataType.Kind.ARRAY;
            DataType type = isArray ? field.type().element() : field.type();
            if (type.kind() == DataType.Kind.ROW) {
                message(field.name() + "_row", type.fields(), within, text);
            }
            text.append(within)
                    .append(
                            isArray
                                    ? "repeated "
                                    : field.nullable() && type.kind() != DataType.Kind.ROW ? "optional " : "")
                    .append(type(field.name(), type))
                    .append(' ')
                    .append(field.name())
                    .append(" = ")
                    .append(i + 1)
                    .append(";\n");
        }
        text.append(indent).append("}\n");
    }

    private static String type(String name, DataType type) {
        return switch (type.kind()) {
            case BOOLEAN -> "bool";
            case SMALLINT, INTEGER -> "int32";
            case BIGINT -> "int64";
            case REAL -> "float";
            case DOUBLE -> "double";
            case NUMERIC, BIGNUM, TEXT, VARCHAR, CHAR, DATE, TIME, INTERVAL, UUID, JSONB -> "string";
            case BYTEA -> "bytes";
            case TIMESTAMP, TIMESTAMPTZ -> "google.protobuf.Timestamp";
            case ROW -> name + "_row";
            case ARRAY, NULL ->
                throw MillraceException.notAvailableYet("a column of type " + type + "[] in format protobuf");
        };
    }
}
