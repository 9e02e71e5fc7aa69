package dev.millrace.connectors.avro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import dev.millrace.testing.time.Eventually;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class AvroFormatTest {
    private static final String FIRST =
            "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"id\",\"type\":\"int\"},{\"name\":\"name\",\"type\":[\"null\",\"string\"]}]}";
    private static final String SECOND =
            "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"extra\",\"type\":\"double\"},{\"name\":\"id\",\"type\":\"long\"}]}";
    private static final Schema COLUMNS =
            Schema.of(new Field("id", DataType.BIGINT, false), new Field("name", DataType.TEXT, true));

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private final RegistryServer registry = RegistryServer.start();

    @TempDir
    Path folder;

    @AfterEach
    void stop() {
        registry.close();
    }

    private static org.apache.avro.Schema avro(String text) {
        return new org.apache.avro.Schema.Parser().parse(text);
    }

    private static Options options(String... given) {
        Map<String, String> map = new HashMap<>();
        for (int i = 0; i < given.length; i += 2) {
            map.put(given[i], given[i + 1]);
        }
        return new Options(map, text -> text.replace("${secret:p}", "hunter2"));
    }

    private RecordFormat format(Schema columns, String... more) {
        String[] all = new String[more.length + 2];
        System.arraycopy(more, 0, all, 0, more.length);
        all[more.length] = "schema_registry";
        all[more.length + 1] = registry.address();
        return new AvroRecordFormatFactory().create(columns, options(all));
    }

    static byte[] written(org.apache.avro.Schema schema, Object datum) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
        try {
            new GenericDatumWriter<>(schema).write(datum, encoder);
            encoder.flush();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return bytes.toByteArray();
    }

    private static byte[] record(String schema, Consumer<GenericRecordBuilder> values) {
        GenericRecordBuilder builder = new GenericRecordBuilder(avro(schema));
        values.accept(builder);
        return written(avro(schema), builder.build());
    }

    private static byte[] first(int id, String name) {
        return record(FIRST, builder -> builder.set("id", id).set("name", name));
    }

    private static byte[] second(long id) {
        return record(SECOND, builder -> builder.set("id", id).set("extra", 2.5));
    }

    private static byte[] framed(int id, byte[] value) {
        return ByteBuffer.allocate(5 + value.length)
                .put((byte) 0)
                .putInt(id)
                .put(value)
                .array();
    }

    private static List<Integer> all(RecordFormat format) {
        return java.util.stream.IntStream.range(0, format.schema().size())
                .boxed()
                .toList();
    }

    @Test
    void eachRecordIsReadByTheSchemaItWasWrittenWith() {
        int one = registry.register("s", "AVRO", FIRST);
        int two = registry.register("s", "AVRO", SECOND);
        Decoding decoding = new Decoding(memory.allocator());
        RecordFormat format = format(COLUMNS);
        try (RecordDecoder decoder = format.decoder(all(format), decoding)) {
            byte[][] records = {
                framed(one, first(1, "a")),
                framed(two, second(1L << 40)),
                framed(one, first(-3, null)),
                framed(two, second(4))
            };
            assertEquals(
                    List.of("1|a", "1099511627776|~", "-3|~", "4|~"),
                    decoding.rowsWhenThere(decoder, COLUMNS, records));
            assertEquals(
                    List.of(
                            "schema 2 has a field \"extra\" that is no column: it is left out",
                            "schema 2 has no field \"name\" any more: column \"name\" is its default, or NULL"),
                    decoding.notes);
            assertEquals(List.of("4|~"), decoding.rowsWhenThere(decoder, COLUMNS, framed(two, second(4))));
            String third = SECOND.replace("double", "float");
            int three = registry.register("s", "AVRO", third);
            byte[] record = record(third, builder -> builder.set("id", 5L).set("extra", 1f));
            assertEquals(List.of("5|~"), decoding.rowsWhenThere(decoder, COLUMNS, framed(three, record)));
            assertEquals(2, decoding.notes.size(), "said once");
        }
        assertEquals(Map.of("/schemas/ids/1", 1, "/schemas/ids/2", 1, "/schemas/ids/3", 1), registry.asked);
    }

    @Test
    void onlyTheColumnsThatAreAskedForAreGivenAndAllAreChecked() {
        int one = registry.register("s", "AVRO", FIRST);
        Decoding decoding = new Decoding(memory.allocator());
        Schema columns = Schema.of(new Field("id", DataType.SMALLINT, false), new Field("name", DataType.TEXT, true));
        RecordFormat format = format(columns);
        try (RecordDecoder decoder = format.decoder(List.of(1), decoding)) {
            List<String> rows = decoding.rowsWhenThere(
                    decoder,
                    columns.select(List.of(1)),
                    framed(one, first(7, "seven")),
                    framed(one, first(70000, "many")));
            assertEquals(List.of("seven"), rows);
            assertEquals(List.of("1 id 22003 value \"70000\" is out of range for type smallint"), decoding.rejected);
        }
    }

    @Test
    void aRegistryThatIsDownIsWaitedForAndNothingIsLost() {
        int one = registry.register("s", "AVRO", FIRST);
        registry.stop();
        Decoding decoding = new Decoding(memory.allocator());
        RecordFormat format = format(COLUMNS);
        try (RecordDecoder decoder = format.decoder(all(format), decoding)) {
            byte[][] records = {framed(one, first(1, "a")), {1, 2}};
            Eventually.holds("it was asked in vain", () -> {
                assertEquals(Optional.empty(), decoding.rows(decoder, COLUMNS, records));
                return decoder.waitsFor()
                                .orElse("")
                                .startsWith("schema 1 of schema registry " + registry.address() + " (")
                        && decoding.wakeUps.get() > 1;
            });
            assertEquals(List.of(), decoding.rejected, "nothing is rejected while it waits");
            registry.begin();
            registry.answerWith(503);
            Eventually.holds(
                    "the failing registry is told of",
                    () -> decoding.rows(decoder, COLUMNS, records).isEmpty()
                            && decoder.waitsFor().orElse("").contains("not now (503)"));
            registry.answerWith(200);
            assertEquals(List.of("1|a"), decoding.rowsWhenThere(decoder, COLUMNS, records));
            assertEquals(Optional.empty(), decoder.waitsFor());
            assertEquals(List.of("1  22P03 the record does not begin with the number of a schema"), decoding.rejected);
        }
    }

    @Test
    void numbersThatTheRegistryDoesNotKnowAreRejectedAlone() {
        int one = registry.register("s", "AVRO", FIRST);
        int other = registry.register("s", "JSON", "{}");
        Decoding decoding = new Decoding(memory.allocator());
        RecordFormat format = format(COLUMNS);
        try (RecordDecoder decoder = format.decoder(all(format), decoding)) {
            assertEquals(
                    List.of("1|a"),
                    decoding.rowsWhenThere(
                            decoder,
                            COLUMNS,
                            framed(99, first(5, "x")),
                            framed(one, first(1, "a")),
                            framed(other, new byte[3])));
            assertEquals(2, decoding.rejected.size(), decoding.rejected.toString());
            assertTrue(decoding.rejected
                    .get(0)
                    .startsWith("0  42704 schema 99 is not in schema registry http://localhost:"));
            assertEquals("2  42804 schema 2 is of type JSON, not of AVRO", decoding.rejected.get(1));
        }
    }

    @Test
    void aLoginIsGivenByReferenceAndNeverShown() {
        int one = registry.register("s", "AVRO", FIRST);
        registry.requireLogin("u", "hunter2");
        Decoding decoding = new Decoding(memory.allocator());
        RecordFormat format = format(COLUMNS, "schema_registry.user", "u", "schema_registry.password", "${secret:p}");
        try (RecordDecoder decoder = format.decoder(all(format), decoding)) {
            assertEquals(List.of("1|a"), decoding.rowsWhenThere(decoder, COLUMNS, framed(one, first(1, "a"))));
        }
        RecordFormat without = format(COLUMNS, "schema_registry.user", "u");
        try (RecordDecoder decoder = without.decoder(all(format), decoding)) {
            Eventually.holds(
                    "it is refused",
                    () -> decoding.rows(decoder, COLUMNS, framed(one, first(1, "a")))
                                    .isEmpty()
                            && decoder.waitsFor().orElse("").contains("Unauthorized (401)"));
        }
        MillraceException open =
                assertThrows(MillraceException.class, () -> format(COLUMNS, "schema_registry.password", "hunter2"));
        assertTrue(
                open.getMessage().contains("is a secret") && !open.getMessage().contains("hunter2"));
    }

    @Test
    void schemasThatNeedOthersAreReadWithThem() {
        String money =
                "{\"type\":\"record\",\"name\":\"Money\",\"namespace\":\"n\",\"fields\":[{\"name\":\"cents\",\"type\":\"int\"}]}";
        registry.register("money", "AVRO", money);
        int one = registry.register(
                "s",
                "AVRO",
                "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"name\",\"type\":\"n.Money\"},{\"name\":\"id\",\"type\":\"long\"}]}",
                "",
                List.of(new RegistryServer.Reference("n.Money", "money", 1)));
        Decoding decoding = new Decoding(memory.allocator());
        RecordFormat format = format(COLUMNS);
        try (RecordDecoder decoder = format.decoder(all(format), decoding)) {
            assertEquals(List.of("2|{\"cents\":7}"), decoding.rowsWhenThere(decoder, COLUMNS, framed(one, new byte[] {
                14, 4
            })));
        }
    }

    @Test
    void theReadersSchemaGivesAliasesAndDefaults() throws IOException {
        int one = registry.register("s", "AVRO", FIRST);
        String reader =
                "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"id\",\"type\":\"double\"},{\"name\":\"called\",\"aliases\":[\"name\"],"
                        + "\"type\":[\"null\",\"string\"]},{\"name\":\"tags\",\"type\":{\"type\":\"array\",\"items\":\"string\"},\"default\":[\"x\",\"y\"]}]}";
        Path file = Files.writeString(folder.resolve("reader.avsc"), reader);
        Schema columns = Schema.of(
                new Field("called", DataType.TEXT, true),
                new Field("ID", DataType.DOUBLE, true),
                new Field("tags", DataType.array(DataType.TEXT), true));
        Decoding decoding = new Decoding(memory.allocator());
        RecordFormat format = format(columns, "schema_file", file.toString());
        try (RecordDecoder decoder = format.decoder(all(format), decoding)) {
            assertEquals(
                    List.of("a|1|{x,y}", "~|2|{x,y}"),
                    decoding.rowsWhenThere(decoder, columns, framed(one, first(1, "a")), framed(one, first(2, null))));
        }
    }

    @Test
    void recordsOfAnInlineSchemaHaveNoNumber() {
        Decoding decoding = new Decoding(memory.allocator());
        RecordFormat format = new AvroRecordFormatFactory().create(COLUMNS, options("schema", FIRST));
        byte[] whole = first(1, "abc");
        byte[] cut = java.util.Arrays.copyOf(whole, whole.length - 1);
        byte[] longer = java.util.Arrays.copyOf(whole, whole.length + 1);
        assertEquals(List.of("1|abc"), decoding.rows(format, whole, cut, longer, null));
        assertEquals(
                List.of(
                        "1  22P03 the record is not Avro of its schema: a length of 3 where 2 bytes are left",
                        "2  22P03 the record is not Avro of its schema: 1 bytes are behind it",
                        "3  22004 a record without a value"),
                decoding.rejected);
    }

    @Test
    void whatIsMissingIsSaid() {
        MillraceException none =
                assertThrows(MillraceException.class, () -> new AvroRecordFormatFactory().create(COLUMNS, options()));
        assertEquals("format avro needs option \"schema_registry\", \"schema\" or \"schema_file\"", none.getMessage());
        MillraceException wrong = assertThrows(
                MillraceException.class,
                () -> new AvroRecordFormatFactory().create(COLUMNS, options("schema", "{\"type\":\"rec\"}")));
        assertTrue(
                wrong.getMessage().startsWith("the schema of the options is no schema of Avro: "), wrong.getMessage());
        MillraceException address = assertThrows(
                MillraceException.class,
                () -> new AvroRecordFormatFactory().create(COLUMNS, options("schema_registry", "http://u:p@host")));
        assertEquals("22023", address.sqlState().code());
    }

    @Test
    void columnsAreToldByTheRegistry() {
        registry.register(
                "orders-value",
                "AVRO",
                "{\"type\":\"record\",\"name\":\"r\",\"fields\":["
                        + "{\"name\":\"Id\",\"type\":\"long\"},{\"name\":\"at\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}},"
                        + "{\"name\":\"day\",\"type\":[\"null\",{\"type\":\"int\",\"logicalType\":\"date\"}]},"
                        + "{\"name\":\"price\",\"type\":{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":10,\"scale\":2}},"
                        + "{\"name\":\"u\",\"type\":{\"type\":\"string\",\"logicalType\":\"uuid\"}},{\"name\":\"b\",\"type\":\"bytes\"},"
                        + "{\"name\":\"tags\",\"type\":{\"type\":\"array\",\"items\":\"string\"}},{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"int\"}},"
                        + "{\"name\":\"f\",\"type\":\"float\"},{\"name\":\"n\",\"type\":[\"int\",\"string\"]}]}");
        Schema inferred = new AvroRecordFormatFactory()
                .infer(Optional.empty(), options("schema_registry", registry.address(), "topic", "orders"));
        assertEquals(
                List.of(
                        "id bigint",
                        "at timestamp with time zone",
                        "day date",
                        "price numeric(10,2)",
                        "u uuid",
                        "b bytea",
                        "tags text[]",
                        "m jsonb",
                        "f real",
                        "n jsonb"),
                inferred.fields().stream()
                        .map(field -> field.name() + " " + field.type())
                        .toList());
    }

    @Test
    void whatIsWrittenIsReadByAvroAndByUs() throws IOException {
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
                new Field("i", DataType.TIME, true),
                new Field("j", DataType.TIMESTAMP, true),
                new Field("k", DataType.TIMESTAMPTZ, true),
                new Field("l", DataType.UUID, true),
                new Field("m", DataType.JSONB, true),
                new Field("n", DataType.INTERVAL, true),
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
                        1L,
                        1234567L,
                        -5L,
                        new UUID(3, 4),
                        "{\"a\": [1, null]}",
                        new Row.Interval(1, 2, 3),
                        java.util.Arrays.asList(1L, null, -3L),
                        java.util.Arrays.asList("in", null)),
                Row.of(
                        2L, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
                        null),
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
                        0L,
                        0L,
                        new UUID(0, -1),
                        "1",
                        new Row.Interval(0, 0, 0),
                        List.of(),
                        java.util.Arrays.asList(null, 5L)));
        Decoding decoding = new Decoding(memory.allocator());
        byte[][] records = new byte[rows.size()][];
        try (Batch batch = TestBatches.of(columns, memory.allocator(), rows);
                RecordEncoder encoder = new AvroRecordFormatFactory()
                        .encoder(columns, options("schema_registry", registry.address(), "subject", "out"));
                TextBuffer text = new TextBuffer(memory.allocator(), 64)) {
            for (int row = 0; row < rows.size(); row++) {
                text.clear();
                encoder.encode(batch, row, text);
                records[row] = text.toBytes();
            }
        }
        org.apache.avro.Schema registered = avro(registry.schemas("out").get(0));
        GenericRecord read = new GenericDatumReader<GenericRecord>(registered)
                .read(null, DecoderFactory.get().binaryDecoder(records[0], 5, records[0].length - 5, null));
        assertEquals(
                "{\"id\": 1, \"a\": true, \"b\": -2, \"c\": 1.5, \"d\": -0.1, \"e\": \"\u00ffC\\u009E\u00b2\", \"f\": \"\u00e9\u00e4\", \"g\": \"\\u0001\u00ff\", \"h\": 20000, \"i\": 1, \"j\": 1234567,"
                        + " \"k\": -5, \"l\": \"00000000-0000-0003-0000-000000000004\", \"m\": \"{\\\"a\\\": [1, null]}\", \"n\": \"1 mon 2 days 00:00:00.000003\","
                        + " \"o\": [1, null, -3], \"p\": {\"x\": \"in\", \"y\": null}}",
                read.toString());
        RecordFormat format = format(columns);
        try (RecordDecoder decoder = format.decoder(all(format), decoding)) {
            decoding.rowsWhenThere(decoder, columns, records);
            assertEquals(rows, decoding.cells(decoder, columns, records).orElseThrow());
        }
        assertEquals(List.of(), decoding.rejected);
    }

    @Test
    void aSinkWaitsForItsRegistry() {
        registry.stop();
        try (Batch batch = TestBatches.of(COLUMNS, memory.allocator(), List.of(Row.of(1L, "a")));
                RecordEncoder encoder = new AvroRecordFormatFactory()
                        .encoder(COLUMNS, options("schema_registry", registry.address(), "topic", "t"));
                TextBuffer text = new TextBuffer(memory.allocator(), 64)) {
            Thread later = new Thread(registry::begin);
            later.start();
            encoder.encode(batch, 0, text);
            assertEquals(1, registry.schemas("t-value").size());
        }
    }
}
