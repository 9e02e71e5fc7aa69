package dev.millrace.connectors.protobuf;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumValueDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.OneofDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import dev.millrace.connectors.format.Decoding;
import dev.millrace.format.RecordDecoder;
import dev.millrace.json.JsonNormalizer;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Random message types and messages: what protobuf's own dynamic messages have is what the columns must have. */
@Tag("long")
class ProtobufRandomTest {
    private static final long SEED = Long.getLong("millrace.protobuf.seed", 20261127L);
    private static final int TYPES = Integer.getInteger("millrace.protobuf.types", 1000);
    private static final int RECORDS = 8;
    private static final List<Type> SINGLE = Arrays.stream(Type.values())
            .filter(type -> type != Type.TYPE_GROUP && type != Type.TYPE_MESSAGE)
            .toList();

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private final Random random = new Random(SEED);
    private int names;

    // ---- types -----------------------------------------------------------------------------------------------------

    private Descriptor type() throws Exception {
        FileDescriptorProto file = FileDescriptorProto.newBuilder()
                .setName("f")
                .setSyntax("proto3")
                .addEnumType(EnumDescriptorProto.newBuilder()
                        .setName("E")
                        .addValue(EnumValueDescriptorProto.newBuilder()
                                .setName("ZERO")
                                .setNumber(0))
                        .addValue(EnumValueDescriptorProto.newBuilder()
                                .setName("SEVEN")
                                .setNumber(7)))
                .addMessageType(message("M", 0))
                .build();
        return FileDescriptor.buildFrom(file, new FileDescriptor[0])
                .getMessageTypes()
                .get(0);
    }

    private DescriptorProto message(String name, int depth) {
        DescriptorProto.Builder message = DescriptorProto.newBuilder().setName(name);
        List<Integer> numbers = new ArrayList<>(IntStream.range(1, 20).boxed().toList());
        numbers.add(300);
        Collections.shuffle(numbers, random);
        message.addOneofDecl(OneofDescriptorProto.newBuilder().setName("choice"));
        int count = 2 + random.nextInt(5);
        for (int i = 0; i < count; i++) {
            FieldDescriptorProto.Builder field = FieldDescriptorProto.newBuilder()
                    .setName("c" + names++)
                    .setNumber(numbers.get(i))
                    .setLabel(Label.LABEL_OPTIONAL);
            boolean isMessage = depth < 2 && random.nextInt(4) == 0;
            if (isMessage) {
                String nested = "N" + names++;
                message.addNestedType(message(nested, depth + 1));
                field.setType(Type.TYPE_MESSAGE).setTypeName(nested);
            } else {
                field.setType(SINGLE.get(random.nextInt(SINGLE.size())));
                if (field.getType() == Type.TYPE_ENUM) {
                    field.setTypeName("E");
                }
            }
            if (i < 2) { // a choice of two at least
                field.setOneofIndex(0);
            } else if (random.nextInt(3) == 0) {
                field.setLabel(Label.LABEL_REPEATED);
            }
            message.addField(field);
        }
        return message.build();
    }

    /** Some as rows and arrays, some as JSONB. */
    private DataType columnType(FieldDescriptor field) {
        if (random.nextInt(5) == 0 && field.getType() != FieldDescriptor.Type.STRING) {
            return DataType.JSONB;
        }
        DataType single = switch (field.getType()) {
            case DOUBLE -> DataType.DOUBLE;
            case FLOAT -> DataType.REAL;
            case INT32, SINT32, SFIXED32 -> DataType.INTEGER;
            case INT64, SINT64, SFIXED64, UINT32, FIXED32 -> DataType.BIGINT;
            case UINT64, FIXED64 -> DataType.numeric(20, 0);
            case BOOL -> DataType.BOOLEAN;
            case STRING -> DataType.TEXT;
            case ENUM -> random.nextBoolean() ? DataType.TEXT : DataType.SMALLINT;
            case BYTES -> DataType.BYTEA;
            case MESSAGE ->
                DataType.row(field.getMessageType().getFields().stream()
                        .map(each -> new Field(each.getName(), columnType(each), true))
                        .toList());
            case GROUP -> throw new AssertionError();
        };
        return field.isRepeated() && single.kind() != DataType.Kind.JSONB ? DataType.array(single) : single;
    }

    // ---- values ----------------------------------------------------------------------------------------------------

    private DynamicMessage message(Descriptor type) {
        DynamicMessage.Builder message = DynamicMessage.newBuilder(type);
        for (FieldDescriptor field : type.getFields()) {
            if (field.isRepeated()) {
                for (int i = random.nextInt(4); i > 0; i--) {
                    message.addRepeatedField(field, value(field));
                }
            } else if (random.nextInt(3) > 0) {
                message.setField(field, value(field));
            }
        }
        return message.build();
    }

    private Object value(FieldDescriptor field) {
        return switch (field.getJavaType()) {
            case INT -> random.nextInt() >> random.nextInt(32);
            case LONG -> random.nextLong() >> random.nextInt(64);
            case FLOAT -> random.nextInt(8) == 0 ? Float.POSITIVE_INFINITY : random.nextFloat();
            case DOUBLE -> random.nextGaussian();
            case BOOLEAN -> random.nextBoolean();
            case STRING -> "\u00e9\"".repeat(random.nextInt(5)) + random.nextInt(10);
            case BYTE_STRING -> {
                byte[] bytes = new byte[random.nextInt(4)];
                random.nextBytes(bytes);
                yield ByteString.copyFrom(bytes);
            }
            case ENUM -> field.getEnumType().findValueByNumberCreatingIfUnknown(random.nextInt(3) * 7);
            case MESSAGE -> message(field.getMessageType());
        };
    }

    private static Object cell(Message message, FieldDescriptor field, DataType type) {
        if (field.hasPresence() && !message.hasField(field)) {
            return null;
        }
        Object value = message.getField(field);
        if (type.kind() == DataType.Kind.JSONB) {
            return JsonNormalizer.normalize(json(field, value));
        }
        if (field.isRepeated()) {
            return ((List<?>) value)
                    .stream().map(each -> single(field, each, type.element())).collect(Collectors.toList());
        }
        return single(field, value, type);
    }

    private static Object single(FieldDescriptor field, Object value, DataType type) {
        return switch (field.getType()) {
            case UINT32, FIXED32 -> Integer.toUnsignedLong((Integer) value);
            case UINT64, FIXED64 -> new BigDecimal(Long.toUnsignedString((Long) value));
            case ENUM -> {
                EnumValueDescriptor constant = (EnumValueDescriptor) value;
                boolean isKnown = field.getEnumType().findValueByNumber(constant.getNumber()) != null;
                yield type.isNumber()
                        ? (Object) (long) constant.getNumber()
                        : isKnown ? constant.getName() : Integer.toString(constant.getNumber());
            }
            case BYTES -> {
                List<Byte> bytes = new ArrayList<>();
                ((ByteString) value).forEach(bytes::add);
                yield bytes;
            }
            case MESSAGE ->
                IntStream.range(0, type.fields().size())
                        .mapToObj(i -> cell(
                                (Message) value,
                                field.getMessageType()
                                        .findFieldByName(type.fields().get(i).name()),
                                type.fields().get(i).type()))
                        .collect(Collectors.toList());
            case DOUBLE, FLOAT -> 0.0 + ((Number) value).doubleValue();
            case BOOL, STRING -> value;
            default -> ((Number) value).longValue();
        };
    }

    private static String json(FieldDescriptor field, Object value) {
        if (value instanceof List<?> list) {
            return list.stream().map(each -> json(field, each)).collect(Collectors.joining(",", "[", "]"));
        }
        if (value instanceof Message message) {
            return field.getMessageType().getFields().stream()
                    .filter(each -> !each.hasPresence() || message.hasField(each))
                    .map(each -> "\"" + each.getName() + "\":" + json(each, message.getField(each)))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        Object plain = single(field, value, DataType.TEXT);
        if (plain instanceof List<?> bytes) {
            return bytes.stream()
                    .map(each -> String.format("%02x", (Byte) each))
                    .collect(Collectors.joining("", "\"\\\\x", "\""));
        }
        if (value instanceof Float single && Float.isInfinite(single)) {
            return "\"Infinity\"";
        }
        if (plain instanceof String text && !(value instanceof EnumValueDescriptor && text.matches("[0-9]+"))) {
            return "\"" + text.replace("\"", "\\\"") + "\"";
        }
        return value instanceof Float || value instanceof Double
                ? new BigDecimal(value.toString()).stripTrailingZeros().toPlainString()
                : plain.toString();
    }

    // ---- the comparison --------------------------------------------------------------------------------------------

    @Test
    void columnsHaveWhatDynamicMessagesHave() throws Exception {
        for (int n = 0; n < TYPES; n++) {
            Descriptor type = type();
            List<FieldDescriptor> fields = new ArrayList<>(type.getFields());
            Collections.shuffle(fields, random);
            List<FieldDescriptor> chosen = fields.subList(0, 1 + random.nextInt(fields.size()));
            Schema columns = new Schema(chosen.stream()
                    .map(field -> new Field(field.getName(), columnType(field), true))
                    .toList());
            byte[][] records = new byte[RECORDS][];
            List<Row> expected = new ArrayList<>();
            for (int i = 0; i < RECORDS; i++) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                message(type).writeTo(bytes);
                if (random.nextInt(3) == 0) { // one message behind another is both merged
                    message(type).writeTo(bytes);
                }
                records[i] = bytes.toByteArray();
                DynamicMessage message = DynamicMessage.parseFrom(type, records[i]);
                expected.add(new Row(IntStream.range(0, columns.size())
                        .mapToObj(column -> cell(message, chosen.get(column), columns.type(column)))
                        .collect(Collectors.toList())));
            }
            Decoding decoding = new Decoding(memory.allocator());
            try (RecordDecoder decoder = decoder(columns, type, decoding)) {
                String where = "seed " + SEED + ", type " + n + ": " + type.toProto();
                assertEquals(expected, decoding.cells(decoder, columns, records).orElseThrow(), where);
                assertEquals(List.of(), decoding.rejected, where);
            }
        }
    }

    private static RecordDecoder decoder(Schema columns, Descriptor type, Decoding decoding) {
        ProtobufRecordFormat format = new ProtobufRecordFormat(
                columns,
                Collections.nCopies(columns.size(), Optional.empty()),
                Optional.empty(),
                Optional.of(type),
                Optional.empty());
        return format.decoder(IntStream.range(0, columns.size()).boxed().toList(), decoding);
    }

    @Test
    void damagedMessagesAreRejectedWhereProtobufRejectsThem() throws Exception {
        int rejected = 0;
        for (int n = 0; n < TYPES; n++) {
            Descriptor type = type();
            Schema columns = ProtobufTypes.columns(type);
            byte[][] records = new byte[RECORDS][];
            List<Integer> bad = new ArrayList<>();
            for (int i = 0; i < RECORDS; i++) {
                byte[] bytes = message(type).toByteArray();
                for (int k = random.nextInt(3); k >= 0 && bytes.length > 0; k--) {
                    bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
                }
                records[i] = random.nextInt(4) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)) : bytes;
                try {
                    DynamicMessage.parseFrom(type, records[i]);
                } catch (InvalidProtocolBufferException e) {
                    bad.add(i);
                }
            }
            Decoding decoding = new Decoding(memory.allocator());
            try (RecordDecoder decoder = decoder(columns, type, decoding)) {
                int rows =
                        decoding.cells(decoder, columns, records).orElseThrow().size();
                assertEquals(RECORDS, rows + decoding.rejected.size());
            }
            for (int record : bad) {
                rejected += decoding.rejected.stream().anyMatch(each -> each.startsWith(record + " ")) ? 1 : 0;
            }
        }
        assertEquals(true, rejected > TYPES, rejected + " records were rejected");
    }
}
