package dev.millrace.connectors.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What each format of records holds to when records become others than the columns were declared by, whatever transport brings them. A format's
 * test class extends it and writes the records.
 */
@Timeout(60)
public abstract class SchemaChangeConformance {
    protected static final Schema COLUMNS = Schema.of(
            new Field("id", DataType.BIGINT, false),
            new Field("name", DataType.TEXT, true),
            new Field("price", DataType.INTEGER, true));

    @RegisterExtension
    protected final LeakCheck memory = new LeakCheck();

    /** The format of these columns. */
    protected abstract RecordFormat format(Schema columns);

    /** A record as all were when the columns were declared. */
    protected abstract byte[] before(long id, String name, int price);

    /** One that has a field {@code note}, too. */
    protected abstract byte[] withMore(long id, String name, int price, String note);

    /** One without {@code price}. */
    protected abstract byte[] withLess(long id, String name);

    /** One whose {@code price} is a text. */
    protected abstract byte[] withText(long id, String name, String price);

    /** Whether records name their schema, so that a change can be told from a record that has less. */
    protected boolean saysWhatChanged() {
        return true;
    }

    private List<String> rows(Decoding decoding, Schema columns, byte[]... records) {
        RecordFormat format = format(columns);
        try (RecordDecoder decoder =
                format.decoder(IntStream.range(0, columns.size()).boxed().toList(), decoding)) {
            return decoding.rowsWhenThere(decoder, columns, records);
        }
    }

    @Test
    void aNewFieldIsLeftOutAndSaidOnce() {
        Decoding decoding = new Decoding(memory.allocator());
        List<String> rows =
                rows(decoding, COLUMNS, before(1, "a", 10), withMore(2, "b", 20, "new"), withMore(3, "c", 30, "newer"));
        assertEquals(List.of("1|a|10", "2|b|20", "3|c|30"), rows);
        assertEquals(List.of(), decoding.rejected);
        assertEquals(saysWhatChanged() ? 1 : 0, decoding.notes.size(), decoding.notes::toString);
        assertTrue(decoding.notes.stream().allMatch(note -> note.contains("\"note\"")), decoding.notes::toString);
    }

    @Test
    void aNewColumnIsNullWhereRecordsDoNotHaveIt() {
        List<Field> fields = new ArrayList<>(COLUMNS.fields());
        fields.add(new Field("note", DataType.TEXT, true));
        Decoding decoding = new Decoding(memory.allocator());
        List<String> rows = rows(decoding, new Schema(fields), before(1, "a", 10), withMore(2, "b", 20, "new"));
        assertEquals("2|b|20|new", rows.get(1));
        assertTrue(List.of("1|a|10|~", "1|a|10|").contains(rows.get(0)), rows::toString);
        assertEquals(List.of(), decoding.rejected);
    }

    @Test
    void aFieldThatIsGoneIsNull() {
        Decoding decoding = new Decoding(memory.allocator());
        List<String> rows = rows(decoding, COLUMNS, before(1, "a", 10), withLess(2, "b"), before(3, "c", 30));
        assertEquals(List.of("1|a|10", "2|b|~", "3|c|30"), rows);
        assertEquals(List.of(), decoding.rejected);
    }

    @Test
    void aFieldThatIsGoneRejectsItsRecordsWhereItMustBe() {
        Schema strict = Schema.of(COLUMNS.field(0), COLUMNS.field(1), new Field("price", DataType.INTEGER, false));
        Decoding decoding = new Decoding(memory.allocator());
        List<String> rows = rows(decoding, strict, before(1, "a", 10), withLess(2, "b"), before(3, "c", 30));
        assertEquals(List.of("1|a|10", "3|c|30"), rows);
        assertEquals(1, decoding.rejected.size(), decoding.rejected::toString);
        assertTrue(decoding.rejected.get(0).startsWith("1 price 23502"), decoding.rejected::toString);
    }

    @Test
    void aValueOfAnotherTypeIsConvertedOrRejectedAlone() {
        Decoding decoding = new Decoding(memory.allocator());
        List<String> rows = rows(
                decoding,
                COLUMNS,
                before(1, "a", 10),
                withText(2, "b", "20"),
                withText(3, "c", "thirty"),
                before(4, "d", 40));
        assertEquals(List.of("1|a|10", "2|b|20", "4|d|40"), rows);
        assertEquals(1, decoding.rejected.size(), decoding.rejected::toString);
        assertTrue(decoding.rejected.get(0).startsWith("2 price 22P02"), decoding.rejected::toString);
    }
}
