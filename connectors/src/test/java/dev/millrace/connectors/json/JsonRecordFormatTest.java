package dev.millrace.connectors.json;

import static dev.millrace.connectors.format.Decoding.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.connector.Options;
import dev.millrace.connectors.format.Decoding;
import dev.millrace.error.MillraceException;
import dev.millrace.format.RecordFormat;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class JsonRecordFormatTest {
    private static final Schema ROWS =
            Schema.of(new Field("id", DataType.INTEGER, false), new Field("name", DataType.TEXT, true));

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private static RecordFormat format(String... options) {
        return new JsonRecordFormatFactory()
                .create(ROWS, new Options(options.length == 0 ? Map.of() : Map.of(options[0], options[1])));
    }

    @Test
    void recordsThatAreNoneAreRejectedByTheirNumber() {
        Decoding decoding = new Decoding(memory.allocator());
        List<String> rows = decoding.rows(
                format(),
                bytes("{\"id\":1,\"name\":\"a\"}"),
                bytes(""),
                bytes("{\"id\":\"x\"}"),
                null,
                bytes("{\n \"id\": 2\n}"),
                bytes("{\"name\":\"b\"}"));
        assertEquals(List.of("1|a", "2|~"), rows);
        assertEquals(4, decoding.rejected.size(), decoding.rejected.toString());
        assertEquals("1  22P02 a line must hold one JSON object", decoding.rejected.get(0));
        assertTrue(decoding.rejected.get(1).startsWith("2 id 22P02"), decoding.rejected.get(1));
        assertEquals("3  22004 a record without a value", decoding.rejected.get(2));
        assertTrue(decoding.rejected.get(3).startsWith("5 id 23502"), decoding.rejected.get(3));
    }

    @Test
    void columnsOfRecordsThatAreNotThereAreAskedFor() {
        MillraceException error = assertThrows(
                MillraceException.class,
                () -> new JsonRecordFormatFactory().infer(Optional.empty(), new Options(Map.of())));
        assertEquals("42P16", error.sqlState().code());
    }
}
