package dev.millrace.benchmarks.decode;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.DescriptorProtos.OneofDescriptorProto;
import dev.millrace.connector.Options;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** What formats with schemas must be told to read the bids that their encoders write. */
final class BidSchemas {
    private static final List<String> NAMES = List.of(
            "auction", "bidder", "price", "channel", "url", "datetime", "extra", "currency", "rate", "automatic");

    private BidSchemas() {}

    static Options options(String format) {
        return new Options(
                switch (format) {
                    case "avro" -> Map.of("schema", avro());
                    case "protobuf" -> Map.of("schema", protobuf());
                    default -> Map.of();
                });
    }

    private static String avro() {
        String fields = NAMES.stream()
                .map(name -> "{\"name\":\"" + name + "\",\"type\":[\"null\"," + avroType(name) + "]}")
                .collect(Collectors.joining(","));
        return "{\"type\":\"record\",\"name\":\"bid\",\"fields\":[" + fields + "]}";
    }

    private static String avroType(String name) {
        return switch (name) {
            case "auction", "bidder", "price" -> "\"long\"";
            case "datetime" -> "{\"type\":\"long\",\"logicalType\":\"local-timestamp-micros\"}";
            case "rate" -> "\"double\"";
            case "automatic" -> "\"boolean\"";
            default -> "\"string\"";
        };
    }

    private static String protobuf() {
        DescriptorProto.Builder message = DescriptorProto.newBuilder().setName("bid");
        for (int i = 0; i < NAMES.size(); i++) {
            Type type = protobufType(NAMES.get(i));
            FieldDescriptorProto.Builder field = FieldDescriptorProto.newBuilder()
                    .setName(NAMES.get(i))
                    .setNumber(i + 1)
                    .setLabel(Label.LABEL_OPTIONAL)
                    .setType(type)
                    .setProto3Optional(true)
                    .setOneofIndex(i);
            message.addOneofDecl(OneofDescriptorProto.newBuilder().setName("_" + NAMES.get(i)));
            message.addField(type == Type.TYPE_MESSAGE ? field.setTypeName(".google.protobuf.Timestamp") : field);
        }
        FileDescriptorProto file = FileDescriptorProto.newBuilder()
                .setName("bid.proto")
                .setSyntax("proto3")
                .addDependency("google/protobuf/timestamp.proto")
                .addMessageType(message)
                .build();
        return Base64.getEncoder()
                .encodeToString(
                        FileDescriptorSet.newBuilder().addFile(file).build().toByteArray());
    }

    private static Type protobufType(String name) {
        return switch (name) {
            case "auction", "bidder", "price" -> Type.TYPE_INT64;
            case "datetime" -> Type.TYPE_MESSAGE;
            case "rate" -> Type.TYPE_DOUBLE;
            case "automatic" -> Type.TYPE_BOOL;
            default -> Type.TYPE_STRING;
        };
    }
}
