package dev.millrace.engine.aggregate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.Rows;
import dev.millrace.memory.Memory;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

class KeyFinderTest {
    private static final Schema INPUT =
            Schema.of(new Field("a", DataType.BIGINT, true), new Field("t", DataType.TEXT, true));

    /** As many keys as make the index one whose words are loaded ahead, with NULLs and without, each key several times. */
    @Test
    void keysAreFoundAgainInSmallAndLargeTables() throws Exception {
        KeyLayout keys = new KeyLayout(INPUT, List.of(0, 1));
        try (RootAllocator allocator = new RootAllocator();
                GroupTable table = new GroupTable(allocator, new long[(keys.end() - GroupTable.BODY) / 8]);
                KeyFinder finder = new KeyFinder(INPUT, keys, allocator)) {
            RandomGenerator random = new SplittableRandom(5);
            Map<List<Object>, Long> known = new HashMap<>();
            for (int batch = 0; batch < 60; batch++) {
                List<Row> rows = new ArrayList<>();
                for (int i = 0; i < 1000; i++) {
                    Long a = batch % 2 == 0 && random.nextInt(10) == 0 ? null : random.nextLong(12_000);
                    rows.add(Row.of(a, batch % 3 == 0 && random.nextInt(10) == 0 ? null : "t" + random.nextInt(2)));
                }
                try (Batch some = TestBatches.of(INPUT, allocator, rows)) {
                    long[] entries = finder.find(table, some, Rows.all(1000), 1000);
                    for (int i = 0; i < 1000; i++) {
                        long before = known.computeIfAbsent(rows.get(i).values(), values -> (long) known.size());
                        long at = entries[i] + GroupTable.LINK;
                        if (before == known.size() - 1 && Memory.getLong(at) == 0) {
                            Memory.putLong(at, before + 1);
                        }
                        assertEquals(before + 1, Memory.getLong(at), "row " + i + " of batch " + batch);
                    }
                }
            }
            assertEquals(known.size(), table.size());
            assertTrue(table.mask() >= GroupTable.FAR);
        }
    }
}
