package dev.millrace.connectors.whole;

import static dev.millrace.connectors.format.Decoding.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Options;
import dev.millrace.connectors.format.Decoding;
import dev.millrace.error.MillraceException;
import dev.millrace.format.RecordEncoder;
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

class WholeRecordFormatTest {
    private static final WholeRecordFormatFactory RAW = WholeRecordFormatFactory.raw();
    private static final WholeRecordFormatFactory TEXT = WholeRecordFormatFactory.text();

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private static Schema of(DataType type) {
        return Schema.of(new Field("v", type, false));
    }

    private static Options options(String... given) {
        return new Options(given.length == 0 ? Map.of() : Map.of(given[0], given[1]));
    }

    @Test
    void bytesAreWhatTheyAre() {
        Decoding decoding = new Decoding(memory.allocator());
        byte[] all = {0, (byte) 0xff, 'a'};
        assertEquals(
                List.of("\\x00ff61", "\\x"),
                decoding.rows(RAW.create(of(DataType.BYTEA), options()), all, new byte[0], null));
        assertEquals(List.of("2  22004 a record without a value"), decoding.rejected);
    }

    @Test
    void textsBecomeAValueOfTheColumnsType() {
        Decoding decoding = new Decoding(memory.allocator());
        assertEquals(
                List.of("\u00e9", ""),
                decoding.rows(
                        TEXT.create(of(DataType.TEXT), options()), bytes("\u00e9"), bytes(""), new byte[] {(byte) 0xc3
                        }));
        assertEquals(
                List.of("42"), decoding.rows(TEXT.create(of(DataType.BIGINT), options()), bytes("42"), bytes("x")));
        assertEquals(
                List.of("1970-01-01 00:00:01.5"),
                decoding.rows(
                        TEXT.create(of(DataType.TIMESTAMP), options("timestamp_format", "unix_ms")), bytes("1500")));
        assertEquals(
                List.of(
                        "2 v 22021 invalid byte sequence for encoding \"UTF8\": \"\ufffd\"",
                        "1 v 22P02 invalid input syntax for type bigint: \"x\""),
                decoding.rejected);
    }

    @Test
    void thereIsOneColumn() {
        Schema two = Schema.of(new Field("a", DataType.BYTEA, true), new Field("b", DataType.BYTEA, true));
        assertEquals(
                "42P16",
                assertThrows(MillraceException.class, () -> RAW.create(two, options()))
                        .sqlState()
                        .code());
        assertEquals(
                "42804",
                assertThrows(MillraceException.class, () -> RAW.create(of(DataType.TEXT), options()))
                        .sqlState()
                        .code());
        assertEquals(
                List.of("value bytea"),
                RAW.infer(Optional.empty(), options()).fields().stream()
                        .map(field -> field.name() + " " + field.type())
                        .toList());
    }

    @Test
    void whatIsWrittenIsReadAgain() {
        Schema schema = Schema.of(new Field("v", DataType.BYTEA, true));
        try (Batch batch = TestBatches.of(
                        schema, memory.allocator(), Row.of(List.of((byte) 1, (byte) 2)), Row.of((Object) null));
                RecordEncoder encoder = RAW.encoder(schema, options());
                TextBuffer out = new TextBuffer(memory.allocator(), 64)) {
            encoder.encode(batch, 0, out);
            assertEquals(2, out.length());
            assertEquals(
                    "23502",
                    assertThrows(MillraceException.class, () -> encoder.encode(batch, 1, out))
                            .sqlState()
                            .code());
        }
        try (Batch batch = TestBatches.of(of(DataType.DOUBLE), memory.allocator(), Row.of(1.5));
                RecordEncoder encoder = TEXT.encoder(of(DataType.DOUBLE), options());
                TextBuffer out = new TextBuffer(memory.allocator(), 64)) {
            encoder.encode(batch, 0, out);
            assertEquals("1.5", out.toString());
        }
    }
}
