package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import dev.millrace.testing.document.DocumentPage;
import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.testing.registry.RegistryServer;
import dev.millrace.testing.time.Eventually;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What docs/connectors.md says of formats is so: its examples run over records. */
@Timeout(180)
class FormatDocumentTest {
    private static final String ORDERS =
            "{\"type\":\"record\",\"name\":\"o\",\"fields\":[{\"name\":\"id\",\"type\":\"long\"},"
                    + "{\"name\":\"amount\",\"type\":{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":10,\"scale\":2}},"
                    + "{\"name\":\"placed\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}}]}";

    @TempDir
    Path folder;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] gzip(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
            out.write(bytes(text));
        }
        return bytes.toByteArray();
    }

    private static byte[] descriptors() {
        return FileDescriptorSet.newBuilder()
                .addFile(FileDescriptorProto.newBuilder()
                        .setName("orders.proto")
                        .setPackage("shop")
                        .setSyntax("proto3")
                        .addMessageType(DescriptorProto.newBuilder()
                                .setName("Order")
                                .addField(FieldDescriptorProto.newBuilder()
                                        .setName("id")
                                        .setNumber(1)
                                        .setType(FieldDescriptorProto.Type.TYPE_INT64)
                                        .setLabel(FieldDescriptorProto.Label.LABEL_OPTIONAL))))
                .build()
                .toByteArray();
    }

    private static void write(KafkaBroker broker, RegistryServer registry) throws IOException {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            producer.send(new ProducerRecord<>("lines", bytes("first line")));
            producer.send(new ProducerRecord<>("csv", bytes("1;a;1500\n2;?;0")));
            producer.send(new ProducerRecord<>(
                    "packs", bytes("[{\"bn\":\"d:\",\"bt\":1700000000,\"bu\":\"Cel\"},{\"n\":\"t\",\"v\":20.5}]")));
            String deep = "{\"device\":\"d1\",\"sensor\":{\"temp\":1.5},\"readings\":[{\"value\":7}]}";
            producer.send(new ProducerRecord<>("deep", bytes(deep)));
            producer.send(new ProducerRecord<>("deep", gzip(deep.replace("d1", "d2"))));
            int id = registry.register("orders-avro-value", "AVRO", ORDERS);
            byte[] order = ByteBuffer.allocate(9)
                    .put((byte) 0)
                    .putInt(id)
                    .put(new byte[] {84, 2, 100, 0})
                    .array();
            producer.send(new ProducerRecord<>("orders-avro", order)); // 42, 1.00, 1970
            producer.send(new ProducerRecord<>("bare", new byte[] {14, 2, 2, 'b'}));
            producer.send(new ProducerRecord<>("orders-proto", new byte[] {8, 9}));
        }
    }

    private static List<String> answers(TestDatabase database, String stream) {
        String view = "v_" + stream;
        database.run("CREATE MATERIALIZED VIEW " + view + " AS SELECT * FROM " + stream);
        Eventually.holds(
                stream + " has rows",
                () -> !database.rows("SELECT * FROM " + view).isEmpty());
        database.run("FLUSH");
        return database.rows("SELECT * FROM " + view + " ORDER BY 1");
    }

    @Test
    void theExamplesRun() throws IOException {
        Path descriptors = Files.write(folder.resolve("orders.desc"), descriptors());
        try (KafkaBroker broker = KafkaBroker.start(folder.resolve("broker"));
                RegistryServer registry = RegistryServer.start();
                TestDatabase database = new TestDatabase()) {
            List.of("lines", "csv", "packs", "deep", "orders-avro", "bare", "orders-proto", "large-avro", "large-proto")
                    .forEach(topic -> broker.topic(topic, 1));
            write(broker, registry);
            List<String> statements = new ArrayList<>();
            for (String text : DocumentPage.connectors().statements("Formats of records")) {
                statements.add(text.replace("localhost:9092", broker.bootstrap())
                        .replace("http://localhost:8081", registry.address())
                        .replace("/etc/millrace/orders.desc", descriptors.toString()));
            }
            String shown = "SHOW CREATE STREAM guessed";
            assertTrue(statements.remove(shown));
            statements.forEach(database::run);
            String definition = database.rows(shown).get(0);
            assertTrue(
                    definition.contains("CREATE STREAM guessed (device text, sensor jsonb, readings jsonb) WITH ("),
                    definition);
            assertTrue(
                    database.notices()
                            .contains(
                                    "columns of \"guessed\" were inferred: device text, sensor jsonb, readings jsonb"),
                    database.notices().toString());
            assertEquals(List.of("first line|0"), answers(database, "plain"));
            assertEquals(List.of("\\x6669727374206c696e65"), answers(database, "whole"));
            assertEquals(List.of("1|a|1970-01-01 00:00:01.5", "2||1970-01-01 00:00:00"), answers(database, "fields"));
            assertEquals(List.of("d:t|Cel|20.5|2023-11-14 22:13:20+00"), answers(database, "sensors"));
            assertEquals(List.of("d1|1.5|7", "d2|1.5|7"), answers(database, "deep"));
            assertEquals(2, answers(database, "guessed").size());
            assertEquals(List.of("42|1.00|1970-01-01 00:00:00+00"), answers(database, "orders_avro"));
            assertEquals(List.of("42|1.00|1970-01-01 00:00:00+00"), answers(database, "orders_avro_all"));
            assertEquals(List.of("7|b"), answers(database, "bare"));
            assertEquals(List.of("9|"), answers(database, "orders_proto"));
            Eventually.holds(
                    "the sinks have what they were given",
                    () -> broker.records("large-avro").size() == 1
                            && broker.records("large-proto").size() == 1);
            assertEquals(1, registry.schemas("large-avro-value").size());
            assertEquals(1, registry.schemas("large-proto-value").size());
        }
    }
}
