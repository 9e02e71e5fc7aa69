package dev.millrace.server.transaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.server.rows.RowBuilder;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

/** The rows of a table by their keys, against a map; nothing of them is left when the table is gone. */
class TableKeysTest {
    private static final Schema SCHEMA =
            Schema.of(new Field("id", DataType.BIGINT, false), new Field("value", DataType.TEXT, true));

    private static Batch rows(BufferAllocator allocator, Map<Long, String> values) {
        try (RowBuilder builder = new RowBuilder(SCHEMA, allocator)) {
            values.forEach((id, value) -> builder.row(id, value));
            return builder.build();
        }
    }

    private static TableKeys keys(BufferAllocator allocator) {
        return new TableKeys("t", SCHEMA, List.of(0), TableRules.NONE, allocator);
    }

    private static void put(TableKeys keys, BufferAllocator allocator, Map<Long, String> values) {
        try (Batch batch = rows(allocator, values)) {
            keys.reserve(values.size());
            Map<String, Integer> places = new LinkedHashMap<>();
            for (int row = 0; row < batch.rowCount(); row++) {
                places.put(keys.keyOf(batch, row), row);
            }
            keys.put(batch, places.entrySet());
        }
    }

    private static String key(long id) {
        String text = Long.toString(id);
        return text.length() + ":" + text;
    }

    private static String value(TableKeys keys, BufferAllocator allocator, long id) {
        try (RowCopier copier = new RowCopier(SCHEMA, allocator)) {
            keys.copy(key(id), copier, 1);
            try (Batch row = copier.build()) {
                return String.valueOf(row.column(1).getObject(0));
            }
        }
    }

    @Test
    void rowsComeAndGoAsInAMap() {
        Random random = new Random(1);
        Map<Long, String> model = new TreeMap<>();
        try (BufferAllocator allocator = new RootAllocator();
                TableKeys keys = keys(allocator)) {
            for (int step = 0; step < 3_000; step++) {
                int many = random.nextInt(20) == 0 ? 300 : 1; // some batches are large
                if (random.nextInt(3) == 0) {
                    for (int i = 0; i < many; i++) {
                        long id = random.nextInt(2_000);
                        keys.remove(key(id));
                        model.remove(id);
                    }
                } else {
                    Map<Long, String> values = new LinkedHashMap<>();
                    for (int i = 0; i < many; i++) {
                        values.put((long) random.nextInt(2_000), "value " + step + " " + i);
                    }
                    put(keys, allocator, values);
                    model.putAll(values);
                }
                assertEquals(model.size(), keys.rowCount());
            }
            for (long id = 0; id < 2_000; id++) {
                assertEquals(model.containsKey(id), keys.contains(key(id)));
                if (model.containsKey(id)) {
                    assertEquals(model.get(id), value(keys, allocator, id));
                }
            }
        }
    }

    @Test
    void rowsThatCameOneByOneTakeAboutAsMuchAsThoseThatCameTogether() {
        int count = 20_000;
        try (BufferAllocator allocator = new RootAllocator()) {
            long[] bytes = new long[2];
            for (int way = 0; way < 2; way++) {
                try (TableKeys keys = keys(allocator)) {
                    Map<Long, String> all = new LinkedHashMap<>();
                    for (long id = 0; id < count; id++) {
                        all.put(id, "value " + id);
                        if (way == 0) {
                            put(keys, allocator, Map.of(id, "value " + id));
                        }
                    }
                    if (way == 1) {
                        put(keys, allocator, all);
                    }
                    bytes[way] = allocator.getAllocatedMemory();
                }
            }
            assertTrue(bytes[0] < 2 * bytes[1], bytes[0] + " beside " + bytes[1]);
        }
    }

    @Test
    void aBatchOfWhichFewRowsAreLeftIsNotKept() {
        int count = 100_000;
        try (BufferAllocator allocator = new RootAllocator();
                TableKeys keys = keys(allocator)) {
            Map<Long, String> all = new LinkedHashMap<>();
            for (long id = 0; id < count; id++) {
                all.put(id, "value ".repeat(20) + id);
            }
            put(keys, allocator, all);
            long full = allocator.getAllocatedMemory();
            for (long id = 1_000; id < count; id++) {
                keys.remove(key(id));
            }
            for (long id = count; id < count + 300; id++) {
                put(keys, allocator, Map.of(id, "new"));
            }
            assertTrue(allocator.getAllocatedMemory() < full / 2, allocator.getAllocatedMemory() + " of " + full);
            assertEquals("value ".repeat(20) + 999, value(keys, allocator, 999));
            assertEquals(1_300, keys.rowCount());
        }
    }

    @Test
    void whatItIsFilledWithIsFoundWhetherItWasExpectedOrNot() {
        for (int expected : new int[] {0, 10, 5_000}) {
            try (BufferAllocator allocator = new RootAllocator();
                    TableKeys keys = keys(allocator)) {
                keys.expect(expected);
                for (long from = 0; from < 5_000; from += 500) {
                    Map<Long, String> rows = new TreeMap<>();
                    LongStream.range(from, from + 500).forEach(id -> rows.put(id, "of " + id));
                    try (Batch batch = rows(allocator, rows)) {
                        keys.fill(batch);
                        assertThrows(MillraceException.class, () -> keys.fill(batch), "they are there");
                    }
                }
                assertEquals(5_000, keys.rowCount());
                assertEquals("of 0", value(keys, allocator, 0));
                assertEquals("of 4999", value(keys, allocator, 4_999));
            }
        }
    }

    @Test
    void twoRowsOfOneKeyAreRefusedWhenATableIsFilled() {
        try (BufferAllocator allocator = new RootAllocator();
                TableKeys keys = keys(allocator);
                Batch first = rows(allocator, Map.of(1L, "a"));
                Batch second = rows(allocator, Map.of(1L, "b"))) {
            keys.fill(first);
            assertEquals(
                    "23505",
                    assertThrows(MillraceException.class, () -> keys.fill(second))
                            .sqlState()
                            .code());
            assertEquals("a", value(keys, allocator, 1));
        }
    }

    @Test
    void withoutMemoryForMoreKeysAllIsAsItWas() {
        try (BufferAllocator allocator = new RootAllocator();
                BufferAllocator small = allocator.newChildAllocator("small", 0, 4 << 10);
                TableKeys keys = keys(small)) {
            put(keys, allocator, Map.of(1L, "a"));
            assertThrows(OutOfMemoryException.class, () -> keys.reserve(1_000_000));
            assertEquals("a", value(keys, allocator, 1));
            put(keys, allocator, Map.of(2L, "b"));
            assertEquals(2, keys.rowCount());
        }
    }
}
