package dev.millrace.connectors.senml;

import static dev.millrace.connectors.format.Decoding.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Options;
import dev.millrace.connectors.format.Decoding;
import dev.millrace.error.MillraceException;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class SenmlFormatTest {
    private static final SenmlRecordFormatFactory FACTORY = new SenmlRecordFormatFactory();
    private static final Options NONE = new Options(Map.of());
    private static final Schema COLUMNS = Schema.of(
            new Field("name", DataType.TEXT, false),
            new Field("t", DataType.TIMESTAMPTZ, false),
            new Field("u", DataType.TEXT, true),
            new Field("v", DataType.DOUBLE, true),
            new Field("vs", DataType.TEXT, true),
            new Field("vb", DataType.BOOLEAN, true),
            new Field("vd", DataType.BYTEA, true),
            new Field("s", DataType.DOUBLE, true));

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private final RecordFormat format = FACTORY.create(COLUMNS, NONE);

    @Test
    void basesAreResolved() { // the example of RFC 8428, section 5.1.3
        Decoding decoding = new Decoding(memory.allocator());
        String pack =
                "[{\"bn\":\"urn:dev:ow:10e2073a0108006:\",\"bt\":1.276020076001e+09,\"bu\":\"A\",\"bver\":5,\"n\":\"voltage\",\"u\":\"V\",\"v\":120.1},"
                        + "{\"n\":\"current\",\"t\":-5,\"v\":1.2},{\"n\":\"current\",\"v\":1.7}]";
        assertEquals(
                List.of(
                        "urn:dev:ow:10e2073a0108006:voltage|2010-06-08 18:01:16.001+00|V|120.1|~|~|~|~",
                        "urn:dev:ow:10e2073a0108006:current|2010-06-08 18:01:11.001+00|A|1.2|~|~|~|~",
                        "urn:dev:ow:10e2073a0108006:current|2010-06-08 18:01:16.001+00|A|1.7|~|~|~|~"),
                decoding.rows(format, bytes(pack)));
    }

    @Test
    void valuesAreOfFourKindsAndSums() {
        Decoding decoding = new Decoding(memory.allocator());
        String pack =
                "[{\"bt\":1700000000,\"bv\":10,\"bs\":1},{\"n\":\"a\",\"v\":0.5},{\"n\":\"b\",\"vs\":\"on\"},{\"n\":\"c\",\"vb\":false},"
                        + "{\"n\":\"d\",\"vd\":\"aGk_\",\"other\":[1,{}]},{\"n\":\"e\",\"s\":2},{\"bn\":\"x\"}]";
        assertEquals(
                List.of("a|10.5|~|~|~|~", "b|~|on|~|~|~", "c|~|~|f|~|~", "d|~|~|~|\\x68693f|~", "e|~|~|~|~|3"),
                decoding.rows(format, bytes(pack)).stream()
                        .map(row -> row.replace("2023-11-14 22:13:20+00|~|", ""))
                        .toList());
    }

    @Test
    void smallTimesAreFromNow() {
        Decoding decoding = new Decoding(memory.allocator());
        Schema time = Schema.of(new Field("t", DataType.DOUBLE, false));
        double before = System.currentTimeMillis() / 1e3;
        String row = decoding.rows(FACTORY.create(time, NONE), bytes("[{\"n\":\"a\",\"v\":1,\"t\":-60}]"))
                .get(0);
        assertEquals(before - 60, Double.parseDouble(row), 30);
    }

    @Test
    void aWrongPackIsRejectedWhole() {
        Decoding decoding = new Decoding(memory.allocator());
        String good = "{\"n\":\"a\",\"v\":1,\"t\":1700000000}";
        List<String> rows = decoding.rows(
                format,
                bytes("{}"),
                bytes("[" + good + ",{\"v\":1}]"),
                bytes("[" + good + ",{\"n\":\"a\",\"v\":\"x\"}]"),
                bytes("[" + good + ",{\"n\":\"a\",\"v\":1,\"vs\":\"x\"}]"),
                bytes("[{\"bver\":11}," + good + "]"),
                bytes("[{\"n\":\"a\",\"v\":1,\"new_\":1}]"),
                bytes("[" + good + ",{\"n\":\"a\",\"vd\":\"*\"}]"),
                bytes("[" + good),
                bytes("[" + good + "]"),
                bytes("[" + good + ",{\"n\":\"a\",\"vs\":\"\\u0000\"}]"));
        assertEquals(List.of("a|2023-11-14 22:13:20+00|~|1|~|~|~|~"), rows);
        assertEquals(9, decoding.rejected.size(), decoding.rejected.toString());
        assertEquals("1  22P02 the record is no SenML: \"\" is no name of a measurement", decoding.rejected.get(1));
        assertEquals("9 vs 22021 invalid byte sequence for encoding \"UTF8\": 0x00", decoding.rejected.get(8));
    }

    @Test
    void columnsAreFields() {
        MillraceException error = assertThrows(
                MillraceException.class,
                () -> FACTORY.create(Schema.of(new Field("temp", DataType.DOUBLE, true)), NONE));
        assertEquals("column \"temp\" is no field of format senml", error.getMessage());
        assertEquals(
                List.of("n", "u", "v", "vs", "vb", "vd", "s", "t", "ut"),
                FACTORY.infer(Optional.empty(), NONE).names());
    }

    @Test
    void whatIsWrittenIsReadAgain() {
        Row row = Row.of("dev1", -1_234_567L, "Cel", -0.5, "x\"", true, List.of((byte) -1), null);
        try (Batch batch = TestBatches.of(COLUMNS, memory.allocator(), row);
                RecordEncoder encoder = FACTORY.encoder(COLUMNS, NONE);
                TextBuffer out = new TextBuffer(memory.allocator(), 64)) {
            encoder.encode(batch, 0, out);
            assertEquals(
                    "[{\"n\":\"dev1\",\"t\":-1.234567,\"u\":\"Cel\",\"v\":-0.5,\"vs\":\"x\\\"\",\"vb\":true,\"vd\":\"_w\"}]",
                    out.toString());
        }
    }
}
