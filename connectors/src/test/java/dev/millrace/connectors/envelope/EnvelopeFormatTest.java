package dev.millrace.connectors.envelope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.connector.Options;
import dev.millrace.connectors.avro.AvroRecordFormatFactory;
import dev.millrace.connectors.csv.CsvRecordFormatFactory;
import dev.millrace.connectors.format.Decoding;
import dev.millrace.connectors.json.JsonRecordFormatFactory;
import dev.millrace.connectors.record.RecordMemory;
import dev.millrace.connectors.whole.WholeRecordFormatFactory;
import dev.millrace.error.MillraceException;
import dev.millrace.format.DecodedRows;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.format.RecordFormats;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.arrow.vector.FieldVector;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What records of changes say, whatever their format. */
class EnvelopeFormatTest {
    private static final Schema COLUMNS = Schema.of(
            new Field("id", DataType.INTEGER, false),
            new Field("name", DataType.TEXT, false),
            new Field("born", DataType.DATE, true));
    private static final List<Integer> KEY = List.of(0);

    /** Rows as {@code KIND|id|name|born}, and what was rejected. */
    private record Said(List<String> rows, List<String> rejected) {}

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private static RecordFormat format(Schema columns, List<Integer> key, String... given) {
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i < given.length; i += 2) {
            options.put(given[i], given[i + 1]);
        }
        Options all = new Options(options);
        RecordFormat format = new EnvelopeFormats(new RecordFormats(List.of(
                        new JsonRecordFormatFactory(),
                        new AvroRecordFormatFactory(),
                        new CsvRecordFormatFactory(),
                        WholeRecordFormatFactory.text())))
                .ofTable(key)
                .create(columns, all);
        all.rejectUnread();
        return format;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private Said said(RecordFormat format, byte[]... values) {
        byte[][][] records = new byte[values.length][][];
        for (int i = 0; i < values.length; i++) {
            records[i] = new byte[][] {null, values[i]};
        }
        return said(format, records);
    }

    /** @param records each a key and a value, of which both may be null */
    private Said said(RecordFormat format, byte[][]... records) {
        Decoding decoding = new Decoding(memory.allocator());
        List<Integer> all = IntStream.range(0, format.schema().size()).boxed().toList();
        List<String> rows = new ArrayList<>();
        try (RecordMemory in = new RecordMemory(memory.allocator());
                RecordDecoder decoder = format.decoder(all, decoding)) {
            for (byte[][] record : records) {
                in.add(
                        record[0] == null ? null : ByteBuffer.wrap(record[0]),
                        record[1] == null ? null : ByteBuffer.wrap(record[1]),
                        0);
            }
            in.finish();
            DecodedRows decoded = decoder.decode(in.records()).orElseThrow();
            try (Batch batch =
                    Batch.of(format.schema(), decoded.columns().toArray(FieldVector[]::new), decoded.rows())) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    List<String> cells = new ArrayList<>();
                    int kind = Integer.parseInt(ValueText.format(batch, 0, row).orElseThrow());
                    cells.add(ChangeKind.values()[kind].name());
                    for (int column = 1; column < batch.columnCount(); column++) {
                        cells.add(ValueText.format(batch, column, row).orElse("~"));
                    }
                    rows.add(String.join("|", cells));
                }
            }
        }
        return new Said(rows, decoding.rejected);
    }

    private Said debezium(String... records) {
        byte[][] values = new byte[records.length][];
        for (int i = 0; i < records.length; i++) {
            values[i] = records[i] == null ? null : bytes(records[i]);
        }
        return said(format(COLUMNS, KEY, "envelope", "debezium", "date_format", "unix_days"), values);
    }

    @Test
    void recordsOfDebeziumSayWhatHappensToARow() {
        Said said = debezium(
                "{\"before\":null,\"after\":{\"id\":1,\"name\":\"a\",\"born\":20455},\"source\":{\"op\":\"x\"},\"op\":\"r\"}",
                "{\"op\":\"c\",\"after\":{\"name\":\"b\\u00e9\",\"id\":2,\"born\":null,\"more\":[1,{\"after\":{}}]},\"ts_ms\":1}",
                "{\"op\":\"u\",\"before\":{\"id\":1},\"after\":{\"id\":1,\"name\":\"c\"}}",
                "{\"op\":\"d\",\"before\":{\"id\":2,\"name\":null},\"after\":null}",
                null,
                "{\"op\":\"t\",\"before\":null,\"after\":null,\"source\":{}}",
                "{\"op\":\"m\",\"message\":{\"prefix\":\"p\",\"content\":\"\"}}",
                "{\"status\":\"BEGIN\",\"id\":\"571\",\"event_count\":null,\"data_collections\":null,\"ts_ms\":1}",
                "{\"ts_ms\":1786000000000}");
        assertEquals(List.of(), said.rejected());
        assertEquals(
                List.of(
                        "PUT|1|a|2026-01-02",
                        "PUT|2|bé|~",
                        "PUT|1|c|~",
                        "DELETE|2|~|~",
                        "TOMBSTONE|~|~|~",
                        "TRUNCATE|~|~|~",
                        "MESSAGE|~|~|~",
                        "TRANSACTION|~|~|~",
                        "HEARTBEAT|~|~|~"),
                said.rows());
    }

    @Test
    void whatConnectWroteTogetherWithItsSchemaIsUnwrapped() {
        Said said = debezium(
                "{\"schema\":{\"type\":\"struct\",\"fields\":[{\"field\":\"after\"}]},\"payload\":{\"op\":\"c\",\"after\":{\"id\":1,\"name\":\"a\"}}}",
                " {\"payload\" : {\"before\": {\"id\": 7}, \"op\":\"d\"} , \"schema\":null}",
                "{\"schema\":null,\"payload\":null}");
        assertEquals(List.of("PUT|1|a|~", "DELETE|7|~|~", "TOMBSTONE|~|~|~"), said.rows());
        assertEquals(List.of(), said.rejected());
    }

    @Test
    void aRecordThatLacksSomethingIsRejectedAloneAndInItsOrder() {
        Said said = debezium(
                "{\"op\":\"c\",\"after\":{\"id\":1,\"name\":\"a\"}}",
                "{\"op\":\"c\",\"after\":null}",
                "{\"op\":\"c\",\"after\":{\"id\":\"x\",\"name\":\"a\"}}",
                "{\"op\":\"d\"}",
                "{\"op\":\"d\",\"before\":{\"name\":\"a\"}}",
                "{\"op\":\"c\",\"after\":{\"id\":2}}",
                "{\"op\":\"q\",\"after\":{\"id\":2,\"name\":\"b\"}}",
                "{\"id\":2,\"name\":\"b\"}",
                "{\"op\":\"c\",\"after\":{\"id\":2,\"name\":\"b\"}",
                "[1]",
                "{\"op\":\"c\",\"after\":[1]}",
                "",
                "{\"op\":\"c\",\"after\":{\"id\":3,\"name\":\"c\"}}");
        assertEquals(List.of("PUT|1|a|~", "PUT|3|c|~"), said.rows());
        assertEquals(
                List.of(
                        "1  22004",
                        "2 id 22P02",
                        "3  22004",
                        "4 id 23502",
                        "5 name 23502",
                        "6  22P02",
                        "7  22P02",
                        "8  22P02",
                        "9  22P02",
                        "10  22004",
                        "11  22P02"),
                said.rejected().stream()
                        .map(text -> text.replaceAll("^(\\d+ \\w* \\w{5}) .*", "$1"))
                        .toList());
    }

    @Test
    void theNewestRowOfAKeyIsReadFromKeyAndValue() {
        RecordFormat format = format(COLUMNS, KEY, "envelope", "upsert");
        Said said = said(
                format,
                new byte[][] {bytes("1"), bytes("{\"name\":\"a\",\"id\":99}")},
                new byte[][] {bytes("2"), null},
                new byte[][] {null, bytes("{\"name\":\"b\"}")},
                new byte[][] {bytes("x"), bytes("{\"name\":\"c\"}")},
                new byte[][] {bytes("3"), bytes("{\"name\":null}")},
                new byte[][] {bytes("4"), bytes("{\"schema\":{},\"payload\":{\"name\":\"d\",\"born\":\"2026-01-02\"}}")
                });
        assertEquals(List.of("PUT|1|a|~", "DELETE|2|~|~", "PUT|4|d|2026-01-02"), said.rows());
        assertEquals(3, said.rejected().size());
        assertTrue(said.rejected().get(0).startsWith("2  22004 a record without a key"), said.rejected()::toString);
        assertTrue(said.rejected().get(1).startsWith("3 id 22P02"), said.rejected()::toString);
        assertTrue(said.rejected().get(2).startsWith("4 name 23502"), said.rejected()::toString);
    }

    @Test
    void keysOfSeveralColumnsAreObjects() {
        Schema columns = Schema.of(
                new Field("a", DataType.INTEGER, false),
                new Field("v", DataType.TEXT, true),
                new Field("b", DataType.TEXT, false));
        RecordFormat format = format(columns, List.of(2, 0), "envelope", "upsert", "format", "text");
        Said said = said(
                format,
                new byte[][] {bytes("{\"a\":1,\"b\":\"x\"}"), bytes("one")},
                new byte[][] {bytes("{\"schema\":{},\"payload\":{\"b\":\"y\",\"a\":2}}"), null},
                new byte[][] {bytes("{\"a\":1}"), bytes("one")});
        assertEquals(List.of("PUT|1|one|x", "DELETE|2|~|y"), said.rows());
        assertTrue(said.rejected().get(0).startsWith("2 b 23502"), said.rejected()::toString);
    }

    @Test
    void debeziumsAvroIsRead() throws IOException {
        String row = "{\"type\":\"record\",\"name\":\"Value\",\"fields\":[{\"name\":\"id\",\"type\":\"int\"},"
                + "{\"name\":\"name\",\"type\":[\"null\",\"string\"]},"
                + "{\"name\":\"born\",\"type\":[\"null\",{\"type\":\"int\",\"connect.version\":1,\"connect.name\":\"io.debezium.time.Date\"}]},"
                + "{\"name\":\"later\",\"type\":[\"null\",\"string\"],\"default\":null}]}";
        String envelope =
                "{\"type\":\"record\",\"name\":\"Envelope\",\"fields\":[{\"name\":\"before\",\"type\":[\"null\"," + row
                        + "]},{\"name\":\"after\",\"type\":[\"null\",\"Value\"]},{\"name\":\"op\",\"type\":\"string\"},"
                        + "{\"name\":\"ts_ms\",\"type\":[\"null\",\"long\"]}]}";
        org.apache.avro.Schema schema = new org.apache.avro.Schema.Parser().parse(envelope);
        RecordFormat format = format(COLUMNS, KEY, "envelope", "debezium", "format", "avro", "schema", envelope);
        Said said = said(
                format,
                avro(schema, null, row(schema, 1, "a", 20455), "r"),
                avro(schema, row(schema, 1, "a", null), row(schema, 1, "b", null), "u"),
                avro(schema, row(schema, 1, null, null), null, "d"),
                null,
                avro(schema, null, null, "c"),
                avro(schema, null, row(schema, 2, null, null), "c"),
                avro(schema, null, null, "t"));
        assertEquals(
                List.of("PUT|1|a|2026-01-02", "PUT|1|b|~", "DELETE|1|~|~", "TOMBSTONE|~|~|~", "TRUNCATE|~|~|~"),
                said.rows());
        assertEquals(2, said.rejected().size());
        assertTrue(said.rejected().get(0).startsWith("4  22004"), said.rejected()::toString);
        assertTrue(said.rejected().get(1).startsWith("5 name 23502"), said.rejected()::toString);
    }

    private static GenericRecord row(org.apache.avro.Schema envelope, int id, String name, Integer born) {
        GenericRecord row = new GenericData.Record(
                envelope.getField("before").schema().getTypes().get(1));
        row.put("id", id);
        row.put("name", name);
        row.put("born", born);
        return row;
    }

    private static byte[] avro(org.apache.avro.Schema schema, GenericRecord before, GenericRecord after, String op)
            throws IOException {
        GenericRecord record = new GenericData.Record(schema);
        record.put("before", before);
        record.put("after", after);
        record.put("op", op);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
        new GenericDatumWriter<>(schema).write(record, encoder);
        encoder.flush();
        return bytes.toByteArray();
    }

    @Test
    void formatsThatCannotSayWhy() {
        MillraceException csv = assertThrows(
                MillraceException.class, () -> format(COLUMNS, KEY, "envelope", "debezium", "format", "csv"));
        assertEquals("0A000", csv.sqlState().code());
        assertEquals("envelope debezium is not read in format csv", csv.getMessage());
        assertThrows(MillraceException.class, () -> format(COLUMNS, KEY, "envelope", "upsert", "format", "csv"));
        assertThrows(MillraceException.class, () -> format(COLUMNS, KEY, "envelope", "canal"));
        assertThrows(MillraceException.class, () -> format(COLUMNS, KEY));
        assertThrows(MillraceException.class, () -> format(COLUMNS, KEY, "envelope", "upsert", "key.formt", "json"));
    }

    /** Bytes of valid records are changed at random: each is read or rejected, alone. */
    @Test
    void damagedRecordsAreReadOrRejectedAndHarmNoOther() {
        Random random = new Random(5);
        byte[] good = bytes(
                "{\"schema\":{},\"payload\":{\"before\":{\"id\":4},\"op\":\"u\",\"after\":{\"id\":5,\"name\":\"x\"}}}");
        RecordFormat format = format(COLUMNS, KEY, "envelope", "debezium");
        for (int round = 0; round < 2_000; round++) {
            byte[] bad = good.clone();
            for (int change = random.nextInt(4); change >= 0; change--) {
                bad[random.nextInt(bad.length)] = (byte) random.nextInt(256);
            }
            Said said = said(format, good, bad, good);
            assertEquals(3, said.rows().size() + said.rejected().size());
            assertEquals("PUT|5|x|~", said.rows().get(0));
            assertEquals("PUT|5|x|~", said.rows().get(said.rows().size() - 1));
        }
    }
}
