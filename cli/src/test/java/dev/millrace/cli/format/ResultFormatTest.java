package dev.millrace.cli.format;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.batch.Batch;
import dev.millrace.server.rows.RowBuilder;
import dev.millrace.text.TimeStyle;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The forms of results, as psql and COPY have them. */
class ResultFormatTest {
    private static final Schema SCHEMA = Schema.of(
            new Field("name", DataType.TEXT, true),
            new Field("n", DataType.BIGINT, true),
            new Field("at", DataType.TIMESTAMPTZ, true));
    private static final long NOON = 1_709_208_000_000_000L;

    private final BufferAllocator allocator = new RootAllocator();

    @AfterEach
    void nothingLeaks() {
        allocator.close();
    }

    private String written(ResultFormat format, Object[]... rows) throws IOException {
        StringBuilder out = new StringBuilder();
        RowWriter writer = format.open(SCHEMA, TimeStyle.PLAIN, out);
        for (Object[] row : rows) {
            try (RowBuilder builder = new RowBuilder(SCHEMA, allocator);
                    Batch batch = builder.row(row).build()) {
                writer.write(batch);
            }
        }
        writer.end();
        return out.toString();
    }

    private static Object[] row(Object... values) {
        return values;
    }

    @Test
    void tablesAreAlignedAsPsqlAligns() throws IOException {
        assertEquals("""
                 name  |  n   |           at          \s
                -------+------+------------------------
                 a     |    1 | 2024-02-29 12:00:00+00
                 longe | 1234 |\s
                (2 rows)

                """, written(ResultFormat.TABLE, row("a", 1, NOON), row("longe", 1234, Optional.empty())));
        assertEquals("""
                 name | n | at\s
                ------+---+----
                (0 rows)

                """, written(ResultFormat.TABLE));
    }

    @Test
    void textOfSeveralLinesAndControlCharactersCannotBreakATable() throws IOException {
        assertEquals("""
                 name  | n | at\s
                -------+---+----
                 a    +| 1 |\s
                 b\\x1B |   |\s
                (1 row)

                """, written(ResultFormat.TABLE, row("a\nb\u001b", 1, Optional.empty())));
    }

    @Test
    void wideCharactersTakeTwoCells() throws IOException {
        assertEquals(
                """
                 name | n | at\s
                ------+---+----
                 水水 | 1 |\s
                 e\u0301    | 2 |\s
                (2 rows)

                """, written(ResultFormat.TABLE, row("水水", 1, Optional.empty()), row("e\u0301", 2, Optional.empty())));
    }

    @Test
    void expandedHasALinePerColumn() throws IOException {
        assertEquals("""
                -[ RECORD 1 ]--
                name | a
                n    | 1
                at   |\s

                """, written(ResultFormat.EXPANDED, row("a", 1, Optional.empty())));
        assertEquals("(0 rows)\n\n", written(ResultFormat.EXPANDED));
    }

    @Test
    void csvQuotesWhatNeedsItAndTellsNullFromEmpty() throws IOException {
        assertEquals(
                """
                name,n,at
                "a,""b",1,2024-02-29 12:00:00+00
                "",,
                ,7,
                """,
                written(
                        ResultFormat.CSV,
                        row("a,\"b", 1, NOON),
                        row("", Optional.empty(), Optional.empty()),
                        row(Optional.empty(), 7, Optional.empty())));
    }

    @Test
    void jsonIsALinePerRow() throws IOException {
        assertEquals(
                """
                {"name":"a\\"\\n","n":1,"at":"2024-02-29T12:00:00+00:00"}
                {"name":null,"n":null,"at":null}
                """,
                written(
                        ResultFormat.JSON,
                        row("a\"\n", 1, NOON),
                        row(Optional.empty(), Optional.empty(), Optional.empty())));
    }

    @Test
    void aLineIsCutByCells() {
        assertEquals("ab水", DisplayText.cut("ab水水", 5));
        assertEquals("abc", DisplayText.cut("abc", 5));
    }
}
