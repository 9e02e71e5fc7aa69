package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.error.MillraceException;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Keys of all kinds in entries, written as an aggregate's code does. */
final class KeyLayoutTest {
    private static final Schema SCHEMA = Schema.of(
            new Field("big", DataType.BIGINT, false),
            new Field("text", DataType.TEXT, true),
            new Field("numeric", DataType.numeric(38, 5), true),
            new Field("bool", DataType.BOOLEAN, false),
            new Field("real", DataType.REAL, true),
            new Field("double", DataType.DOUBLE, false),
            new Field("array", DataType.array(DataType.TEXT), true),
            new Field("int", DataType.INTEGER, true),
            new Field("small", DataType.SMALLINT, true),
            new Field("uuid", DataType.UUID, false),
            new Field("name", DataType.TEXT, false));
    private static final List<Integer> COLUMNS = List.of(1, 0, 2, 6, 7, 3, 4, 5, 8, 9, 10);

    private static final Row PLAIN = row("short", 5L, "1.25", List.of("a"), 7, "name");

    /** All differ in one key from the first. */
    private static final List<Row> ROWS = List.of(
            PLAIN,
            row("a text that is longer than a slot", 5L, "1.25", List.of("a"), 7, "name"),
            row("a text that is longer than a slot", 5L, "1.25", List.of("a"), 7, "and another of these long names"),
            row(null, 5L, "1.25", List.of("a"), 7, "name"),
            row("", 5L, "1.25", List.of("a"), 7, "name"),
            row("short", 6L, "1.25", List.of("a"), 7, "name"),
            row("short", 5L, "-1.25", List.of("a"), 7, "name"),
            row("short", 5L, "123456789012345678901234567890.5", List.of("a"), 7, "name"),
            row("short", 5L, null, List.of("a"), 7, "name"),
            row("short", 5L, "1.25", null, 7, "name"),
            row("short", 5L, "1.25", List.of(), 7, "name"),
            row("short", 5L, "1.25", List.of("a", "of many more elements", "than fit"), 7, "name"),
            row("short", 5L, "1.25", List.of("a"), null, "name"),
            row("short", 5L, "1.25", List.of("a"), 0, "name"),
            row("short", 5L, "1.25", List.of("a"), 7, "eman"));

    private static Row row(String text, long big, String numeric, List<String> array, Integer number, String name) {
        return TestBatches.canonical(
                SCHEMA,
                Row.of(
                        big,
                        text,
                        numeric == null ? null : new BigDecimal(numeric),
                        big == 5,
                        number == null ? null : number + 0.5f,
                        big / 4.0,
                        array,
                        number,
                        number,
                        new UUID(3, big),
                        name));
    }

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final KeyLayout layout = new KeyLayout(SCHEMA, COLUMNS);

    private GroupTable newTable() {
        return new GroupTable(leaks.allocator(), new long[(layout.end() - GroupTable.BODY) / 8]);
    }

    /** Adds an entry per row, each with its hash. */
    private long[] insert(GroupTable table, List<Row> rows) {
        return insert(layout, table, SCHEMA, rows, leaks.allocator());
    }

    static long[] insert(KeyLayout layout, GroupTable table, Schema schema, List<Row> rows, BufferAllocator allocator) {
        long[] entries = new long[rows.size()];
        long[] hashes = new long[rows.size()];
        int[] columns = layout.keys().stream().mapToInt(KeyLayout.Key::column).toArray();
        try (Batch batch = TestBatches.of(schema, allocator, rows);
                NestedImages images = new NestedImages(allocator)) {
            Hashing.hash(batch, columns, rows.size(), hashes, images);
            for (int i = 0; i < entries.length; i++) {
                entries[i] = table.insertNew(hashes[i]);
                for (KeyLayout.Key key : layout.keys()) {
                    write(table, entries[i], key, batch, i, images);
                }
            }
        }
        return entries;
    }

    private static void write(
            GroupTable table, long entry, KeyLayout.Key key, Batch batch, int row, NestedImages images) {
        long slot = entry + key.offset();
        if (batch.column(key.column()).isNull(row)) {
            long nulls = Memory.getLong(entry + GroupTable.BODY);
            Memory.putLong(entry + GroupTable.BODY, nulls | 1L << key.index());
            Memory.putLong(slot, Hashing.NULL_BITS);
            if (key.kind() != SlotKind.WORD) {
                Memory.putLong(slot + 8, 0);
            }
            return;
        }
        switch (key.kind()) {
            case WORD -> Memory.putLong(slot, Hashing.word(key.type(), batch.dataAddress(key.column()), row));
            case WIDE -> Memory.copy(batch.dataAddress(key.column()) + 16L * row, slot, 16);
            case BYTES -> {
                long offsets = images.offsetsAddress(batch, key.column());
                int start = Memory.getInt(offsets + 4L * row);
                int length = Memory.getInt(offsets + 4L * row + 4) - start;
                ByteSlots.store(table.memory(), slot, images.dataAddress(batch, key.column()) + start, length);
            }
        }
    }

    private List<Row> read(long[] entries) {
        List<Field> fields = COLUMNS.stream().map(SCHEMA::field).toList();
        FieldVector[] vectors = new FieldVector[fields.size()];
        for (int key = 0; key < vectors.length; key++) {
            vectors[key] = layout.vector(key, fields.get(key), entries, entries.length, leaks.allocator());
            assertEquals(entries.length, vectors[key].getValueCount());
        }
        List<Row> rows = new ArrayList<>();
        try (Batch batch = Batch.of(new Schema(fields), vectors, entries.length)) {
            for (Row row : TestBatches.rows(batch)) {
                Object[] values = new Object[fields.size()];
                for (int key = 0; key < values.length; key++) {
                    values[COLUMNS.get(key)] = row.get(key);
                }
                rows.add(Row.of(values));
            }
        }
        return rows;
    }

    private void free(GroupTable table, long[] entries) {
        for (long entry : entries) {
            layout.free(entry, table.memory());
        }
    }

    @Test
    void keysAreReadBack() {
        try (GroupTable table = newTable()) {
            long[] entries = insert(table, ROWS);
            assertEquals(ROWS, read(entries));
            assertTrue(layout.isNull(entries[3], 0));
            assertFalse(layout.isNull(entries[3], 2));
            assertFalse(layout.isNull(entries[0], 0));
            assertEquals(List.of(), read(new long[0]));
        }
    }

    @Test
    void keysAreEqualIfAllAre() {
        try (GroupTable one = newTable();
                GroupTable other = newTable()) {
            long[] a = insert(one, ROWS);
            long[] b = insert(other, ROWS);
            for (int i = 0; i < a.length; i++) {
                for (int j = 0; j < b.length; j++) {
                    assertEquals(i == j, layout.equal(a[i], b[j]), ROWS.get(i) + " and " + ROWS.get(j));
                }
            }
        }
    }

    @Test
    void keysOfWordsAreEqualIfAllAre() {
        KeyLayout words = new KeyLayout(SCHEMA, List.of(0, 7));
        try (StateMemory memory = new StateMemory(leaks.allocator())) {
            long a = memory.allocate(words.end() + 8);
            long b = memory.allocate(words.end() + 8);
            for (long entry : new long[] {a, b}) {
                Memory.fill(entry, words.end() + 8, (byte) 3);
            }
            Memory.putLong(a + GroupTable.BODY - 8, 1); // the link is no key, and neither is what is behind
            Memory.putLong(a + words.end(), 1);
            assertTrue(words.equal(a, b));
            for (int at = GroupTable.BODY; at < words.end(); at += 8) {
                long before = Memory.getLong(a + at);
                Memory.putLong(a + at, before ^ 1);
                assertFalse(words.equal(a, b), "at " + at);
                Memory.putLong(a + at, before);
            }
            assertEquals(GroupTable.BODY + 3 * 8, words.end());
            assertTrue(words.hasNulls());
            assertFalse(new KeyLayout(SCHEMA, List.of(0)).hasNulls());
            assertEquals(GroupTable.BODY + 8, new KeyLayout(SCHEMA, List.of(0)).end());
        }
    }

    @Test
    void aLayoutWithoutNullsHasNone() {
        KeyLayout words = new KeyLayout(SCHEMA, List.of(0));
        try (StateMemory memory = new StateMemory(leaks.allocator())) {
            long entry = memory.allocate(words.end());
            Memory.putLong(entry + GroupTable.BODY, -1); // a key
            assertFalse(words.isNull(entry, 0));
        }
    }

    @Test
    void anEntryIsFoundByItsHashAndKeysOrTheSlotWhereItWouldBe() {
        try (GroupTable table = newTable();
                GroupTable likes = newTable()) {
            long[] like = insert(likes, ROWS);
            for (int i = 0; i < like.length; i++) {
                long hash = i < 7
                        ? -1L << 60
                        : Memory.getLong(like[i]); // of some the same: they are in a row, round the end
                long found = layout.find(table, hash, like[i]);
                assertTrue(found < 0);
                assertEquals(0, table.word(-1 - found));
                long entry = i % 2 == 0 ? table.insertNew(hash) : table.insert(hash, -1 - found);
                layout.copy(like[i], entry, table.memory());
                assertEquals(entry, layout.find(table, hash, like[i]));
            }
            for (int i = 0; i < 7; i++) {
                long found = layout.find(table, -1L << 60, like[i]);
                assertTrue(found > 0 && layout.equal(found, like[i]));
                assertTrue(layout.find(table, -1L << 60 | 1, like[i]) < 0); // with another tag
            }
        }
    }

    @Test
    void copiedKeysHaveTheirOwnTexts() {
        try (GroupTable from = newTable();
                GroupTable to = newTable()) {
            long[] entries = insert(from, ROWS);
            long[] copies = new long[entries.length];
            for (int i = 0; i < entries.length; i++) {
                copies[i] = to.insertNew(Memory.getLong(entries[i]));
                layout.copy(entries[i], copies[i], to.memory());
            }
            free(from, entries);
            from.clear();
            insert(from, List.of(PLAIN, PLAIN, PLAIN)); // over what was there
            assertEquals(ROWS, read(copies));
        }
    }

    @Test
    void freedTextsMakeRoomForOthers() {
        try (GroupTable table = newTable()) {
            long[] entries = insert(table, ROWS);
            long bytes = table.memory().bytes();
            for (int round = 0; round < 500; round++) {
                for (long entry : entries) {
                    layout.free(entry, table.memory());
                    table.remove(entry);
                }
                entries = insert(table, ROWS);
            }
            assertEquals(bytes, table.memory().bytes());
            assertEquals(ROWS, read(entries));
        }
    }

    @Test
    void writtenKeysAreReadIntoAnotherTable() throws IOException {
        try (GroupTable from = newTable();
                GroupTable to = newTable()) {
            long[] entries = insert(from, ROWS);
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (long entry : entries) {
                layout.write(entry, new DataOutputStream(out));
            }
            long[] hashes = Arrays.stream(entries).map(Memory::getLong).toArray();
            free(from, entries);
            from.clear();
            DataInputStream in = new DataInputStream(new ByteArrayInputStream(out.toByteArray()));
            long[] copies = new long[entries.length];
            for (int i = 0; i < copies.length; i++) {
                copies[i] = layout.read(to, in);
                assertEquals(hashes[i], Memory.getLong(copies[i]));
            }
            assertEquals(-1, in.read());
            assertEquals(ROWS, read(copies));
            assertEquals(ROWS.size(), to.size());
        }
    }

    @Test
    void theSameLayoutServesOtherColumnsOfAnotherInput() {
        KeyLayout strict = new KeyLayout(SCHEMA, List.of(0, 10, 9));
        KeyLayout other = strict.over(List.of(4, 3, 8));
        assertEquals(strict.end(), other.end());
        assertFalse(other.hasNulls());
        for (int i = 0; i < 3; i++) {
            KeyLayout.Key key = other.keys().get(i);
            assertEquals(List.of(4, 3, 8).get(i), key.column());
            assertEquals(strict.keys().get(i).offset(), key.offset());
            assertEquals(strict.keys().get(i).type(), key.type());
            assertEquals(i, key.index());
            assertFalse(key.nullable());
        }
        try (StateMemory memory = new StateMemory(leaks.allocator())) { // it knows which are texts
            long entry = memory.allocate(other.end());
            long copy = memory.allocate(other.end());
            Memory.fill(entry, other.end(), (byte) 0);
            long text = memory.allocate(20);
            Memory.fill(text, 20, (byte) 'x');
            ByteSlots.store(memory, entry + other.keys().get(1).offset(), text, 20);
            other.copy(entry, copy, memory);
            assertTrue(other.equal(entry, copy));
            other.free(entry, memory);
            assertEquals(20, ByteSlots.length(copy + other.keys().get(1).offset()));
            other.free(copy, memory);
        }
    }

    @Test
    void thereAreAtMostSixtyFourKeys() {
        Schema wide = new Schema(IntStream.range(0, 65)
                .mapToObj(i -> new Field("c" + i, DataType.BIGINT, true))
                .toList());
        KeyLayout most = new KeyLayout(wide, IntStream.range(0, 64).boxed().toList());
        try (BufferAllocator allocator = leaks.allocator().newChildAllocator("entry", 0, 1 << 20);
                StateMemory memory = new StateMemory(allocator)) {
            long entry = memory.allocate(most.end());
            Memory.putLong(entry + GroupTable.BODY, 1L << 63);
            assertTrue(most.isNull(entry, 63));
            assertFalse(most.isNull(entry, 62));
        }
        assertThrows(
                MillraceException.class,
                () -> new KeyLayout(wide, IntStream.range(0, 65).boxed().toList()));
    }
}
