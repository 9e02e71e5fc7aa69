package dev.millrace.connectors.avro;

import dev.millrace.connector.Options;
import dev.millrace.connectors.format.SchemaChangeConformance;
import dev.millrace.format.RecordFormat;
import dev.millrace.testing.registry.RegistryServer;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.AfterEach;

class AvroSchemaChangeTest extends SchemaChangeConformance {
    private final RegistryServer registry = RegistryServer.start();

    @AfterEach
    void stop() {
        registry.close();
    }

    @Override
    protected RecordFormat format(Schema columns) {
        return new AvroRecordFormatFactory()
                .create(columns, new Options(Map.of("schema_registry", registry.address())));
    }

    /** A record of these fields, each a name and a type, behind the number of its schema. */
    private byte[] record(Map<String, Object> values, String... namesAndTypes) {
        StringBuilder fields = new StringBuilder();
        for (int i = 0; i < namesAndTypes.length; i += 2) {
            fields.append(i == 0 ? "" : ",")
                    .append("{\"name\":\"" + namesAndTypes[i] + "\",\"type\":\"" + namesAndTypes[i + 1] + "\"}");
        }
        String text = "{\"type\":\"record\",\"name\":\"r\",\"fields\":[" + fields + "]}";
        org.apache.avro.Schema schema = new org.apache.avro.Schema.Parser().parse(text);
        GenericRecord record = new GenericData.Record(schema);
        values.forEach(record::put);
        byte[] value = AvroFormatTest.written(schema, record);
        return ByteBuffer.allocate(5 + value.length)
                .put((byte) 0)
                .putInt(registry.register("s", "AVRO", text))
                .put(value)
                .array();
    }

    @Override
    protected byte[] before(long id, String name, int price) {
        return record(Map.of("id", id, "name", name, "price", price), "id", "long", "name", "string", "price", "int");
    }

    @Override
    protected byte[] withMore(long id, String name, int price, String note) {
        return record(
                Map.of("id", id, "name", name, "price", price, "note", note),
                "id",
                "long",
                "note",
                "string",
                "name",
                "string",
                "price",
                "int");
    }

    @Override
    protected byte[] withLess(long id, String name) {
        return record(Map.of("id", id, "name", name), "id", "long", "name", "string");
    }

    @Override
    protected byte[] withText(long id, String name, String price) {
        return record(
                Map.of("id", id, "name", name, "price", price), "id", "long", "name", "string", "price", "string");
    }
}
