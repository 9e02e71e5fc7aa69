package dev.millrace.connectors.csv;

import static dev.millrace.connectors.format.Decoding.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Options;
import dev.millrace.connectors.format.Decoding;
import dev.millrace.error.MillraceException;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CsvRecordFormatTest {
    private static final Schema COLUMNS =
            Schema.of(new Field("id", DataType.INTEGER, false), new Field("name", DataType.TEXT, true));

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private static RecordFormat format(String... options) {
        return new CsvRecordFormatFactory()
                .create(COLUMNS, new Options(options.length == 0 ? Map.of() : Map.of(options[0], options[1])));
    }

    @Test
    void eachLineOfEachRecordIsARow() {
        Decoding decoding = new Decoding(memory.allocator());
        assertEquals(
                List.of("1|a", "2|b,\"c\"", "3|~", "4|x\ny", "5|e"),
                decoding.rows(format(), bytes("1,a"), bytes("2,\"b,\"\"c\"\"\"\n3,\n"), bytes("4,\"x\ny\"\r\n5,e")));
        assertEquals(List.of(), decoding.rejected);
    }

    @Test
    void aRecordWithAWrongLineIsRejectedWholeAndNoOther() {
        Decoding decoding = new Decoding(memory.allocator());
        assertEquals(
                List.of("1|a", "6|f", "7|g"),
                decoding.rows(
                        format(),
                        bytes("1,a"),
                        bytes("2,\"never ends"),
                        bytes("3,c\nx,d"),
                        bytes("4"),
                        bytes(""),
                        null,
                        bytes(",no id"),
                        bytes("6,f\n7,g")));
        assertEquals(
                List.of(
                        "1  22P04 unterminated CSV quoted field",
                        "2 id 22P02 invalid input syntax for type integer: \"x\"",
                        "3  22P04 missing data for column \"name\"",
                        "4  22P04 a record without a line",
                        "5  22004 a record without a value",
                        "6 id 23502 null value in column \"id\" violates not-null constraint"),
                decoding.rejected);
    }

    @Test
    void whichRecordsAreRejectedDoesNotDependOnTheColumns() {
        Decoding decoding = new Decoding(memory.allocator());
        try (RecordDecoder decoder = format().decoder(List.of(1), decoding)) {
            assertEquals(
                    List.of("b"),
                    decoding.rows(decoder, COLUMNS.select(List.of(1)), bytes("x,a"), bytes("2,b"))
                            .orElseThrow());
        }
        assertEquals(1, decoding.rejected.size());
    }

    @Test
    void theReadersOptionsHold() {
        Decoding decoding = new Decoding(memory.allocator());
        assertEquals(List.of("1|a"), decoding.rows(format("delimiter", ";"), bytes("1;a")));
        assertEquals(List.of("1|~"), decoding.rows(format("null_padding", "true"), bytes("1")));
        MillraceException header = assertThrows(MillraceException.class, () -> format("header", "true"));
        assertEquals("option \"header\" is of files, and not of records of format csv", header.getMessage());
    }

    @Test
    void manyRecordsKeepTheirNumbers() {
        Random random = new Random(7);
        List<byte[]> records = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        int bad = 0;
        for (int i = 0; i < 2000; i++) {
            int lines = 1 + random.nextInt(3);
            boolean isBad = random.nextInt(5) == 0;
            StringBuilder text = new StringBuilder();
            for (int line = 0; line < lines; line++) {
                text.append(isBad && line == lines - 1 ? "?" : Integer.toString(i))
                        .append(",t")
                        .append(line)
                        .append('\n');
                if (!isBad) {
                    expected.add(i + "|t" + line);
                }
            }
            bad += isBad ? 1 : 0;
            records.add(bytes(text.toString()));
        }
        Decoding decoding = new Decoding(memory.allocator());
        assertEquals(expected, decoding.rows(format(), records.toArray(byte[][]::new)));
        assertEquals(bad, decoding.rejected.size());
    }

    @Test
    void whatIsWrittenIsReadAgain() {
        List<byte[]> records = new ArrayList<>();
        try (Batch batch = TestBatches.of(
                        COLUMNS, memory.allocator(), Row.of(1, "a\n\""), Row.of(2, null), Row.of(3, ""));
                RecordEncoder encoder = new CsvRecordFormatFactory().encoder(COLUMNS, new Options(Map.of()));
                TextBuffer out = new TextBuffer(memory.allocator(), 64)) {
            for (int row = 0; row < 3; row++) {
                out.clear();
                encoder.encode(batch, row, out);
                records.add(out.toBytes());
            }
        }
        Decoding decoding = new Decoding(memory.allocator());
        assertEquals(List.of("1|a\n\"", "2|~", "3|"), decoding.rows(format(), records.toArray(byte[][]::new)));
    }

    @Test
    void columnsAreGuessedByTheirPlace() {
        assertThrows(
                MillraceException.class,
                () -> new CsvRecordFormatFactory().infer(Optional.empty(), new Options(Map.of())));
    }
}
