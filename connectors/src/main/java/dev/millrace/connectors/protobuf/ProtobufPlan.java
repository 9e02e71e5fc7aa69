package dev.millrace.connectors.protobuf;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.OneofDescriptor;
import dev.millrace.connectors.column.FieldNames;
import dev.millrace.connectors.column.NestedTarget;
import dev.millrace.connectors.column.ValueTarget;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Which fields of a message type are columns, or fields of a row: those of their names, in any case if none has it exactly. Made once for each
 * message type. Belongs to the columns' thread.
 */
final class ProtobufPlan {
    private static final int LOW = 256;

    private final Map<Integer, ProtobufField> byNumber = new HashMap<>();
    private final ProtobufField[] fields;
    private final ProtobufField[] low = new ProtobufField[LOW]; // by number, of those with low numbers: nearly all

    /** @param buffers makes memory that lives as long as the plan */
    ProtobufPlan(
            Descriptor message, List<Field> columns, IntFunction<ValueTarget> targets, Supplier<TextBuffer> buffers) {
        for (int column = 0; column < columns.size(); column++) {
            FieldDescriptor field = named(message, columns, column);
            if (field != null) {
                byNumber.put(field.getNumber(), field(field, targets.apply(column), buffers));
            }
        }
        message.getRealOneofs().forEach(this::addRivals);
        this.fields = byNumber.values().toArray(ProtobufField[]::new);
        byNumber.forEach((number, field) -> {
            if (number < LOW) {
                low[number] = field;
            }
        });
    }

    /** The field of a column's name; or one that differs in case and is no other column's. */
    private static @Nullable FieldDescriptor named(Descriptor message, List<Field> columns, int column) {
        FieldDescriptor exact = message.findFieldByName(columns.get(column).name());
        if (exact != null) {
            return exact;
        }
        return message.getFields().stream()
                .filter(field -> FieldNames.find(columns, field.getName()) == column)
                .findFirst()
                .orElse(null);
    }

    private void addRivals(OneofDescriptor oneof) {
        List<ProtobufField> members = new ArrayList<>();
        if (oneof.getFields().stream().noneMatch(field -> byNumber.containsKey(field.getNumber()))) {
            return;
        }
        for (FieldDescriptor field : oneof.getFields()) {
            members.add(byNumber.computeIfAbsent(field.getNumber(), number -> ProtobufField.passed()));
        }
        for (ProtobufField member : members) {
            members.stream().filter(other -> other != member).forEach(member::rivalOf);
        }
    }

    private static ProtobufField field(FieldDescriptor field, ValueTarget to, Supplier<TextBuffer> buffers) {
        DataType type = to.type();
        boolean isMessage = field.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
        boolean isText = field.getType() == FieldDescriptor.Type.STRING && !field.isRepeated();
        if (type.kind() == DataType.Kind.JSONB && !isText) {
            return ProtobufField.json(field, buffers.get(), buffers.get(), to);
        }
        if (field.isRepeated()) {
            return repeated(field, to, buffers);
        }
        if (!isMessage) {
            return type.isNested() ? ProtobufField.refused("a single value", to) : ProtobufField.single(field, to);
        }
        String name = field.getMessageType().getFullName();
        if (type.kind() == DataType.Kind.ROW) {
            NestedTarget row = to.nested();
            return ProtobufField.row(new ProtobufPlan(field.getMessageType(), type.fields(), row::field, buffers), row);
        }
        if (name.equals("google.protobuf.Timestamp") || name.equals("google.protobuf.Duration")) {
            return ProtobufField.time(name.endsWith("Duration"), to);
        }
        if (ProtobufTypes.isWrapper(field.getMessageType()) && type.kind() != DataType.Kind.ARRAY) {
            return ProtobufField.wrapped(field.getMessageType().findFieldByNumber(1), to);
        }
        return type.isText()
                ? ProtobufField.json(field, buffers.get(), buffers.get(), to)
                : ProtobufField.refused("a message " + name, to);
    }

    private static ProtobufField repeated(FieldDescriptor field, ValueTarget to, Supplier<TextBuffer> buffers) {
        if (to.type().isText()) {
            return ProtobufField.json(field, buffers.get(), buffers.get(), to);
        }
        boolean isMessage = field.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
        if (to.type().kind() != DataType.Kind.ARRAY || field.isMapField()) {
            return ProtobufField.refused("a repeated field", to);
        }
        NestedTarget array = to.nested();
        DataType element = to.type().element();
        if (isMessage && element.kind() == DataType.Kind.ROW) {
            return ProtobufField.rows(
                    new ProtobufPlan(field.getMessageType(), element.fields(), array.element()::field, buffers), array);
        }
        return isMessage || element.isNested()
                ? ProtobufField.refused("a repeated message", to)
                : ProtobufField.repeated(field, array);
    }

    void begin() {
        for (ProtobufField field : fields) {
            field.begin();
        }
    }

    /** Reads fields to the input's end. */
    void read(ProtobufInput in) {
        while (!in.isAtEnd()) {
            int tag = in.readTag();
            int number = tag >>> 3;
            ProtobufField field = number < LOW ? low[number] : byNumber.get(number);
            if (field == null || !field.take(in, tag)) {
                in.skip(tag);
            }
        }
    }

    void end() {
        for (ProtobufField field : fields) {
            field.end();
        }
    }
}
