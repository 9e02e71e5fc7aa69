package dev.millrace.connectors.protobuf;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import dev.millrace.json.JsonStrings;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeRange;
import dev.millrace.text.ValueWriter;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;

/**
 * Messages as JSON: fields by the names of the descriptor, those that were not written with their defaults where a type has them; numbers as
 * numbers, bytes as {@code \x} and digits, and of {@code google.protobuf} times, wrappers and structures as what they mean.
 */
final class ProtobufJson {
    private ProtobufJson() {}

    /** Appends the value of a field, as a message has it. */
    static void field(FieldDescriptor field, Object value, TextBuffer out) {
        if (field.isMapField()) {
            map(field, (List<?>) value, out);
        } else if (field.isRepeated()) {
            char before = '[';
            for (Object element : (List<?>) value) {
                out.append(before);
                before = ',';
                single(field, element, out);
            }
            close(before, '[', ']', out);
        } else {
            single(field, value, out);
        }
    }

    private static void close(char before, char open, char close, TextBuffer out) {
        if (before == open) {
            out.append(open);
        }
        out.append(close);
    }

    private static void map(FieldDescriptor field, List<?> entries, TextBuffer out) {
        FieldDescriptor key = field.getMessageType().findFieldByNumber(1);
        FieldDescriptor value = field.getMessageType().findFieldByNumber(2);
        char before = '{';
        for (Object each : entries) {
            Message entry = (Message) each;
            out.append(before);
            before = ',';
            quoted(entry.getField(key).toString(), out);
            out.append(':');
            single(value, entry.getField(value), out);
        }
        close(before, '{', '}', out);
    }

    private static void single(FieldDescriptor field, Object value, TextBuffer out) {
        switch (field.getJavaType()) {
            case INT -> {
                boolean isUnsigned = field.getType() == FieldDescriptor.Type.UINT32
                        || field.getType() == FieldDescriptor.Type.FIXED32;
                ValueWriter.integer(out, isUnsigned ? Integer.toUnsignedLong((Integer) value) : (Integer) value);
            }
            case LONG -> {
                boolean isUnsigned = field.getType() == FieldDescriptor.Type.UINT64
                        || field.getType() == FieldDescriptor.Type.FIXED64;
                out.appendAscii(isUnsigned ? Long.toUnsignedString((Long) value) : value.toString());
            }
            case FLOAT -> {
                long start = out.length();
                ValueWriter.real(out, (Float) value);
                quoteUnless(Float.isFinite((Float) value), start, out);
            }
            case DOUBLE -> {
                long start = out.length();
                ValueWriter.float8(out, (Double) value);
                quoteUnless(Double.isFinite((Double) value), start, out);
            }
            case BOOLEAN -> out.appendAscii(value.toString());
            case STRING -> quoted((String) value, out);
            case BYTE_STRING -> quoted("\\x" + HexFormat.of().formatHex(((ByteString) value).toByteArray()), out);
            case ENUM -> {
                EnumValueDescriptor constant = (EnumValueDescriptor) value;
                if (constant.getType().findValueByNumber(constant.getNumber()) == null) {
                    ValueWriter.integer(out, constant.getNumber());
                } else {
                    quoted(constant.getName(), out);
                }
            }
            case MESSAGE -> message((Message) value, out);
        }
    }

    private static void quoteUnless(boolean isNumber, long start, TextBuffer out) {
        if (!isNumber) {
            JsonStrings.quoteFrom(out, start);
        }
    }

    private static void message(Message message, TextBuffer out) {
        List<FieldDescriptor> fields = message.getDescriptorForType().getFields();
        switch (message.getDescriptorForType().getFullName()) {
            case "google.protobuf.Timestamp" -> time(message, fields, false, out);
            case "google.protobuf.Duration" -> time(message, fields, true, out);
            case "google.protobuf.Struct", "google.protobuf.ListValue" ->
                field(fields.get(0), message.getField(fields.get(0)), out);
            case "google.protobuf.Value" -> structured(message, fields, out);
            default -> {
                if (ProtobufTypes.isWrapper(message.getDescriptorForType())) {
                    single(fields.get(0), message.getField(fields.get(0)), out);
                } else {
                    object(message, fields, out);
                }
            }
        }
    }

    private static void object(Message message, List<FieldDescriptor> fields, TextBuffer out) {
        char before = '{';
        for (FieldDescriptor field : fields) {
            if (!field.hasPresence() || message.hasField(field)) {
                out.append(before);
                before = ',';
                quoted(field.getName(), out);
                out.append(':');
                field(field, message.getField(field), out);
            }
        }
        close(before, '{', '}', out);
    }

    private static void structured(Message value, List<FieldDescriptor> fields, TextBuffer out) {
        for (FieldDescriptor field : fields) {
            if (value.hasField(field) && field.getNumber() > 1) { // the first is null
                single(field, value.getField(field), out);
                return;
            }
        }
        out.appendAscii("null");
    }

    private static void time(Message message, List<FieldDescriptor> fields, boolean isDuration, TextBuffer out) {
        long seconds = (Long) message.getField(fields.get(0));
        int nanos = (Integer) message.getField(fields.get(1));
        boolean fits = Math.abs(seconds) < Long.MAX_VALUE / 1_000_000 - 1_000_000;
        long micros = fits ? seconds * 1_000_000 + Math.floorDiv(nanos, 1000) : Long.MAX_VALUE;
        long start = out.length();
        if (isDuration && fits) {
            ValueWriter.interval(out, 0, 0, micros);
        } else if (!isDuration && fits && TimeRange.isTimestamp(micros)) {
            ValueWriter.timestamp(out, micros);
            JsonStrings.isoFrom(out, start);
        } else {
            ValueWriter.integer(out, seconds);
            return;
        }
        JsonStrings.quoteFrom(out, start);
    }

    private static void quoted(String text, TextBuffer out) {
        long start = out.length();
        out.append(text.getBytes(StandardCharsets.UTF_8));
        JsonStrings.quoteFrom(out, start);
    }
}
