package dev.millrace.connectors.protobuf;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import dev.millrace.connector.Options;
import dev.millrace.connectors.format.SchemaChangeConformance;
import dev.millrace.format.RecordFormat;
import dev.millrace.testing.registry.RegistryServer;
import dev.millrace.type.Schema;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;

class ProtobufSchemaChangeTest extends SchemaChangeConformance {
    private static final FieldDescriptorProto ID = field(1, "id", Type.TYPE_INT64);
    private static final FieldDescriptorProto NAME = field(2, "name", Type.TYPE_STRING);
    private static final FieldDescriptorProto PRICE = field(3, "price", Type.TYPE_INT32);
    private static final FieldDescriptorProto NOTE = field(4, "note", Type.TYPE_STRING);
    private static final FieldDescriptorProto TEXT_PRICE = field(3, "price", Type.TYPE_STRING);

    private final RegistryServer registry = RegistryServer.start();

    @AfterEach
    void stop() {
        registry.close();
    }

    private static FieldDescriptorProto field(int number, String name, Type type) {
        return FieldDescriptorProto.newBuilder()
                .setName(name)
                .setNumber(number)
                .setType(type)
                .setLabel(Label.LABEL_OPTIONAL)
                .build();
    }

    @Override
    protected RecordFormat format(Schema columns) {
        return new ProtobufRecordFormatFactory()
                .create(columns, new Options(Map.of("schema_registry", registry.address())));
    }

    private byte[] framed(byte[] message, FieldDescriptorProto... fields) {
        FileDescriptorProto file = FileDescriptorProto.newBuilder()
                .setName("r.proto")
                .setSyntax("proto3")
                .addMessageType(DescriptorProto.newBuilder().setName("R").addAllField(List.of(fields)))
                .build();
        String descriptor = Base64.getEncoder().encodeToString(file.toByteArray());
        int id = registry.register("s", "PROTOBUF", descriptor, descriptor, List.of());
        return ByteBuffer.allocate(6 + message.length)
                .put((byte) 0)
                .putInt(id)
                .put((byte) 0) // the first message type
                .put(message)
                .array();
    }

    private static void number(ByteArrayOutputStream out, int field, long value) {
        out.write(field << 3);
        out.write((int) value); // less than 128
    }

    private static void text(ByteArrayOutputStream out, int field, String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        out.write(field << 3 | 2);
        out.write(bytes.length);
        out.writeBytes(bytes);
    }

    private static ByteArrayOutputStream begun(long id, String name) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        number(out, 1, id);
        text(out, 2, name);
        return out;
    }

    @Override
    protected byte[] before(long id, String name, int price) {
        ByteArrayOutputStream out = begun(id, name);
        number(out, 3, price);
        return framed(out.toByteArray(), ID, NAME, PRICE);
    }

    @Override
    protected byte[] withMore(long id, String name, int price, String note) {
        ByteArrayOutputStream out = begun(id, name);
        number(out, 3, price);
        text(out, 4, note);
        return framed(out.toByteArray(), ID, NAME, PRICE, NOTE);
    }

    @Override
    protected byte[] withLess(long id, String name) {
        return framed(begun(id, name).toByteArray(), ID, NAME);
    }

    @Override
    protected byte[] withText(long id, String name, String price) {
        ByteArrayOutputStream out = begun(id, name);
        text(out, 3, price);
        return framed(out.toByteArray(), ID, NAME, TEXT_PRICE);
    }
}
