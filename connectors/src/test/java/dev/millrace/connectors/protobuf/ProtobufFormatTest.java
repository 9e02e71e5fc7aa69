package dev.millrace.connectors.protobuf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Duration;
import com.google.protobuf.Int32Value;
import com.google.protobuf.Timestamp;
import dev.millrace.batch.Batch;
import dev.millrace.connector.Options;
import dev.millrace.connectors.format.Decoding;
import dev.millrace.error.MillraceException;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.registry.RegistryServer;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ProtobufFormatTest {
    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private final RegistryServer registry = RegistryServer.start();

    @TempDir
    Path folder;

    @AfterEach
    void stop() {
        registry.close();
    }

    private static FieldDescriptorProto field(int number, String name, Type type, String typeName) {
        FieldDescriptorProto.Builder field = FieldDescriptorProto.newBuilder()
                .setName(name)
                .setNumber(number)
                .setType(type)
                .setLabel(Label.LABEL_OPTIONAL);
        return (typeName.isEmpty() ? field : field.setTypeName(typeName)).build();
    }

    /** Two message types, the second of which has another within it. */
    private static FileDescriptorProto file() {
        return FileDescriptorProto.newBuilder()
                .setName("orders.proto")
                .setPackage("shop")
                .setSyntax("proto3")
                .addDependency("google/protobuf/timestamp.proto")
                .addDependency("google/protobuf/duration.proto")
                .addDependency("google/protobuf/wrappers.proto")
                .addDependency("money.proto")
                .addMessageType(DescriptorProto.newBuilder()
                        .setName("Order")
                        .addField(field(1, "id", Type.TYPE_INT64, ""))
                        .addField(field(2, "placed", Type.TYPE_MESSAGE, ".google.protobuf.Timestamp"))
                        .addField(field(3, "took", Type.TYPE_MESSAGE, ".google.protobuf.Duration"))
                        .addField(field(4, "rating", Type.TYPE_MESSAGE, ".google.protobuf.Int32Value"))
                        .addField(field(5, "price", Type.TYPE_MESSAGE, ".shop.Money")))
                .addMessageType(DescriptorProto.newBuilder()
                        .setName("Other")
                        .addNestedType(DescriptorProto.newBuilder()
                                .setName("Inner")
                                .addField(field(1, "id", Type.TYPE_INT32, ""))))
                .build();
    }

    private static FileDescriptorProto money() {
        return FileDescriptorProto.newBuilder()
                .setName("money.proto")
                .setPackage("shop")
                .setSyntax("proto3")
                .addMessageType(DescriptorProto.newBuilder()
                        .setName("Money")
                        .addField(field(1, "cents", Type.TYPE_INT64, ""))
                        .addField(field(2, "currency", Type.TYPE_STRING, "")))
                .build();
    }

    private static final Schema COLUMNS = Schema.of(
            new Field("id", DataType.BIGINT, false),
            new Field("placed", DataType.TIMESTAMPTZ, true),
            new Field("took", DataType.INTERVAL, true),
            new Field("rating", DataType.INTEGER, true),
            new Field("price", DataType.JSONB, true));

    private static byte[] order(boolean whole) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            out.write(new byte[] {1 << 3, 42});
            if (whole) {
                write(
                        out,
                        2,
                        Timestamp.newBuilder()
                                .setSeconds(-1)
                                .setNanos(999_999_999)
                                .build()
                                .toByteArray());
                write(out, 3, Duration.newBuilder().setSeconds(61).build().toByteArray());
                write(out, 4, Int32Value.newBuilder().setValue(0).build().toByteArray());
                write(out, 5, new byte[] {1 << 3, 100});
                write(out, 9, new byte[] {1, 2, 3}); // of a later type
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return out.toByteArray();
    }

    private static void write(ByteArrayOutputStream out, int number, byte[] value) throws IOException {
        out.write(number << 3 | 2);
        out.write(value.length);
        out.write(value);
    }

    private static byte[] framed(int id, byte[] path, byte[] value) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(new byte[] {0, 0, 0, 0, (byte) id});
        out.writeBytes(path);
        out.writeBytes(value);
        return out.toByteArray();
    }

    private static Options options(String... given) {
        Map<String, String> map = new HashMap<>();
        for (int i = 0; i < given.length; i += 2) {
            map.put(given[i], given[i + 1]);
        }
        return new Options(map);
    }

    private static final List<String> ROWS =
            List.of("42|1969-12-31 23:59:59.999999+00|00:01:01|0|{\"cents\": 100, \"currency\": \"\"}", "42|~|~|~|~");

    @Test
    void aFileSaysWhatMessagesAre() throws IOException {
        FileDescriptorSet set =
                FileDescriptorSet.newBuilder().addFile(money()).addFile(file()).build();
        Path path = Files.write(folder.resolve("orders.desc"), set.toByteArray());
        RecordFormat format = new ProtobufRecordFormatFactory()
                .create(COLUMNS, options("schema_file", path.toString(), "message", "shop.Order"));
        Decoding decoding = new Decoding(memory.allocator());
        assertEquals(ROWS, decoding.rows(format, order(true), order(false)));
        String inline = Base64.getEncoder().encodeToString(set.toByteArray());
        RecordFormat same =
                new ProtobufRecordFormatFactory().create(COLUMNS, options("schema", inline, "message", "shop.Order"));
        assertEquals(ROWS, decoding.rows(same, order(true), order(false)));
        MillraceException which = assertThrows(
                MillraceException.class,
                () -> new ProtobufRecordFormatFactory().create(COLUMNS, options("schema", inline)));
        assertEquals(
                "there are: shop.Money, shop.Order, shop.Other, shop.Other.Inner",
                which.hint().orElseThrow());
        MillraceException unknown = assertThrows(
                MillraceException.class,
                () -> new ProtobufRecordFormatFactory()
                        .create(COLUMNS, options("schema", inline, "message", "shop.Orders")));
        assertEquals("did you mean \"shop.Order\"?", unknown.hint().orElseThrow());
        assertEquals(
                List.of(
                        "id bigint",
                        "placed timestamp with time zone",
                        "took interval",
                        "rating integer",
                        "price jsonb"),
                new ProtobufRecordFormatFactory()
                        .infer(Optional.empty(), options("schema", inline, "message", "shop.Order")).fields().stream()
                                .map(field -> field.name() + " " + field.type())
                                .toList());
    }

    @Test
    void aRegistrySaysWhatMessagesAreAndEachSaysWhichItIs() {
        String moneyText = Base64.getEncoder().encodeToString(money().toByteArray());
        registry.register("money", "PROTOBUF", "money", moneyText, List.of());
        int id = registry.register(
                "orders-value",
                "PROTOBUF",
                "orders",
                Base64.getEncoder().encodeToString(file().toByteArray()),
                List.of(new RegistryServer.Reference("money.proto", "money", 1)));
        RecordFormat format =
                new ProtobufRecordFormatFactory().create(COLUMNS, options("schema_registry", registry.address()));
        Decoding decoding = new Decoding(memory.allocator());
        try (RecordDecoder decoder =
                format.decoder(IntStream.range(0, 5).boxed().toList(), decoding)) {
            assertEquals(
                    List.of(ROWS.get(0), ROWS.get(1), "7|~|~|~|~"),
                    decoding.rowsWhenThere(
                            decoder,
                            COLUMNS,
                            framed(id, new byte[] {0}, order(true)),
                            framed(id, new byte[] {2, 0}, order(false)),
                            framed(id, new byte[] {4, 2, 0}, new byte[] {1 << 3, 7}), // Other.Inner
                            framed(id, new byte[] {2, 6}, order(false)),
                            framed(9, new byte[] {0}, order(false))));
        }
        assertEquals(2, decoding.rejected.size(), decoding.rejected.toString());
        assertEquals("3  22P03 the record is no message of its type: message type 3 of 2", decoding.rejected.get(0));
        assertTrue(decoding.rejected.get(1).startsWith("4  42704 schema 9 is not in"), decoding.rejected.get(1));
    }

    @Test
    void whatIsWrittenIsReadAgain() {
        Schema columns = Schema.of(
                new Field("id", DataType.BIGINT, false),
                new Field("a", DataType.BOOLEAN, true),
                new Field("b", DataType.SMALLINT, true),
                new Field("c", DataType.REAL, true),
                new Field("d", DataType.DOUBLE, true),
                new Field("e", DataType.numeric(20, 3), true),
                new Field("f", DataType.TEXT, true),
                new Field("g", DataType.BYTEA, true),
                new Field("h", DataType.DATE, true),
                new Field("k", DataType.TIMESTAMPTZ, true),
                new Field("l", DataType.UUID, true),
                new Field("m", DataType.JSONB, true),
                new Field("o", DataType.array(DataType.INTEGER), true),
                new Field(
                        "p",
                        DataType.row(
                                List.of(new Field("x", DataType.TEXT, true), new Field("y", DataType.INTEGER, true))),
                        true));
        List<Row> rows = List.of(
                Row.of(
                        1L,
                        true,
                        -2L,
                        1.5,
                        -0.1,
                        new BigDecimal("-12345.678"),
                        "\u00e9\u00e4",
                        List.of((byte) 1, (byte) -1),
                        20000L,
                        -5L,
                        new UUID(3, 4),
                        "{\"a\": [1, null]}",
                        List.of(1L, -3L),
                        Arrays.asList("in", null)),
                Row.of(
                        Long.MIN_VALUE,
                        false,
                        3L,
                        0.0,
                        0.0,
                        new BigDecimal("0.000"),
                        "",
                        List.of(),
                        0L,
                        0L,
                        new UUID(0, -1),
                        "1",
                        List.of(),
                        Arrays.asList(null, 5L)),
                Row.of(2L, null, null, null, null, null, null, null, null, null, null, null, List.of(), null));
        byte[][] records = new byte[rows.size()][];
        try (Batch batch = TestBatches.of(columns, memory.allocator(), rows);
                RecordEncoder encoder = new ProtobufRecordFormatFactory()
                        .encoder(columns, options("schema_registry", registry.address(), "topic", "t"));
                TextBuffer text = new TextBuffer(memory.allocator(), 64)) {
            for (int row = 0; row < rows.size(); row++) {
                text.clear();
                encoder.encode(batch, row, text);
                records[row] = text.toBytes();
            }
        }
        assertEquals(
                "syntax = \"proto3\";\npackage millrace;\nimport \"google/protobuf/timestamp.proto\";\nmessage row {\n  int64 id = 1;\n"
                        + "  optional bool a = 2;\n  optional int32 b = 3;\n  optional float c = 4;\n  optional double d = 5;\n  optional string e = 6;\n"
                        + "  optional string f = 7;\n  optional bytes g = 8;\n  optional string h = 9;\n  optional google.protobuf.Timestamp k = 10;\n"
                        + "  optional string l = 11;\n  optional string m = 12;\n  repeated int32 o = 13;\n  message p_row {\n    optional string x = 1;\n"
                        + "    optional int32 y = 2;\n  }\n  p_row p = 14;\n}\n",
                registry.schemas("t-value").get(0));
        Decoding decoding = new Decoding(memory.allocator());
        RecordFormat format = new ProtobufRecordFormatFactory()
                .create(
                        columns,
                        options(
                                "schema",
                                Base64.getEncoder().encodeToString(written().toByteArray())));
        byte[][] bare = Arrays.stream(records)
                .map(record -> Arrays.copyOfRange(record, 6, record.length))
                .toArray(byte[][]::new);
        try (RecordDecoder decoder =
                format.decoder(IntStream.range(0, columns.size()).boxed().toList(), decoding)) {
            assertEquals(rows, decoding.cells(decoder, columns, bare).orElseThrow());
        }
        assertEquals(List.of(), decoding.rejected);
    }

    /** What protoc makes of the text above. */
    private static FileDescriptorSet written() {
        DescriptorProto.Builder row = DescriptorProto.newBuilder()
                .setName("row")
                .addNestedType(DescriptorProto.newBuilder()
                        .setName("p_row")
                        .addField(optional(1, "x", Type.TYPE_STRING, 0))
                        .addField(optional(2, "y", Type.TYPE_INT32, 1))
                        .addOneofDecl(com.google.protobuf.DescriptorProtos.OneofDescriptorProto.newBuilder()
                                .setName("_x"))
                        .addOneofDecl(com.google.protobuf.DescriptorProtos.OneofDescriptorProto.newBuilder()
                                .setName("_y")))
                .addField(field(1, "id", Type.TYPE_INT64, ""));
        Type[] types = {
            Type.TYPE_BOOL,
            Type.TYPE_INT32,
            Type.TYPE_FLOAT,
            Type.TYPE_DOUBLE,
            Type.TYPE_STRING,
            Type.TYPE_STRING,
            Type.TYPE_BYTES,
            Type.TYPE_STRING,
            Type.TYPE_MESSAGE,
            Type.TYPE_STRING,
            Type.TYPE_STRING
        };
        String names = "abcdefghklm";
        for (int i = 0; i < types.length; i++) {
            String name = names.substring(i, i + 1);
            row.addOneofDecl(com.google.protobuf.DescriptorProtos.OneofDescriptorProto.newBuilder()
                    .setName("_" + name));
            FieldDescriptorProto made = optional(i + 2, name, types[i], i);
            row.addField(
                    types[i] == Type.TYPE_MESSAGE
                            ? made.toBuilder()
                                    .setTypeName(".google.protobuf.Timestamp")
                                    .build()
                            : made);
        }
        row.addField(field(13, "o", Type.TYPE_INT32, "").toBuilder().setLabel(Label.LABEL_REPEATED));
        row.addField(field(14, "p", Type.TYPE_MESSAGE, ".millrace.row.p_row"));
        return FileDescriptorSet.newBuilder()
                .addFile(FileDescriptorProto.newBuilder()
                        .setName("row.proto")
                        .setPackage("millrace")
                        .setSyntax("proto3")
                        .addDependency("google/protobuf/timestamp.proto")
                        .addMessageType(row))
                .build();
    }

    private static FieldDescriptorProto optional(int number, String name, Type type, int oneof) {
        return field(number, name, type, "").toBuilder()
                .setProto3Optional(true)
                .setOneofIndex(oneof)
                .build();
    }
}
