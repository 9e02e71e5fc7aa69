package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.testing.harness.TestContext;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.vector.FieldVector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** State by key group, as snapshots have it. */
final class SnapshotsOfStateTest {
    private static final Schema SCHEMA =
            Schema.of(new Field("a", DataType.BIGINT, false), new Field("t", DataType.TEXT, true));

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final SortedMap<String, ByteArrayOutputStream> written = new TreeMap<>(); // by name and key group

    private final StateWriter writer = (state, group) -> {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        assertTrue(written.put(state.name() + " " + group, bytes) == null, "a key group begins once");
        return new DataOutputStream(bytes);
    };

    private final StateReader reader = (state, restore) -> written.forEach((key, bytes) -> {
        if (key.startsWith(state.name() + " ")) {
            restore.accept(
                    input(key), Integer.parseInt(key.substring(state.name().length() + 1)));
        }
    });

    private DataInputStream input(String key) {
        return new DataInputStream(new ByteArrayInputStream(written.get(key).toByteArray()));
    }

    private static long hash(int group, long rest) {
        return (long) group << Long.SIZE - KeyGroups.BITS | rest;
    }

    private GroupTable table(int... groups) {
        GroupTable table = new GroupTable(leaks.allocator(), new long[] {0});
        for (int i = 0; i < groups.length; i++) {
            Memory.putLong(table.insertNew(hash(groups[i], i)) + GroupTable.BODY, groups[i]);
        }
        return table;
    }

    @Test
    void entriesAreSortedByKeyGroup() {
        try (GroupTable table = table(0, 255, 7, 255, 7, 7, 1);
                GroupTable others = new GroupTable(leaks.allocator(), new long[0])) {
            KeyGroupEntries entries = new KeyGroupEntries(table);
            Map<Integer, Integer> counts = Map.of(0, 1, 1, 1, 7, 3, 255, 2);
            for (int group = 0; group < KeyGroups.COUNT; group++) {
                assertEquals(counts.getOrDefault(group, 0), entries.count(group));
                for (int i = 0; i < entries.count(group); i++) {
                    assertEquals(group, Memory.getLong(entries.entry(group, i) + GroupTable.BODY));
                }
            }
            long owner = others.insertNew(hash(9, 0));
            KeyGroupEntries owned = new KeyGroupEntries(table, entry -> owner);
            assertEquals(7, owned.count(9));
            assertEquals(0, owned.count(7));
        }
    }

    @Test
    void onlyKeyGroupsWithEntriesAreWritten() throws IOException {
        try (GroupTable table = table(255, 7, 255, 0)) {
            KeyGroupPart part = KeyGroupPart.of(
                    table, (entry, out) -> out.writeLong(Memory.getLong(entry + GroupTable.BODY) + 1_000));
            part.write(writer, StateFormats.GROUPS);
            assertEquals(List.of("groups 0", "groups 255", "groups 7"), List.copyOf(written.keySet()));
            DataInputStream in = input("groups 255");
            assertEquals(2, in.readInt());
            assertEquals(1_255, in.readLong());
            assertEquals(1_255, in.readLong());
            assertEquals(-1, in.read());
        }
    }

    @Test
    void partsAreWrittenWithTheirTimesWhereTheyHaveEntries() throws IOException {
        try (GroupTable early = table(3, 255);
                GroupTable late = table(3, 0)) {
            SortedMap<Long, GroupTable> byTime = new TreeMap<>(Map.of(10L, early, 20L, late));
            KeyGroupPart.write(
                    byTime,
                    table -> KeyGroupPart.of(table, (entry, out) -> out.writeByte(7)),
                    writer,
                    StateFormats.SLICES);
            assertEquals(List.of("slices 0", "slices 255", "slices 3"), List.copyOf(written.keySet()));
            DataInputStream both = input("slices 3");
            assertEquals(2, both.readInt());
            for (long time = 10; time <= 20; time += 10) {
                assertEquals(time, both.readLong());
                assertEquals(1, both.readInt());
                assertEquals(7, both.readByte());
            }
            DataInputStream one = input("slices 255");
            assertEquals(1, one.readInt());
            assertEquals(10, one.readLong());
        }
    }

    private void add(RowBag bag, Row... rows) {
        try (Batch batch = TestBatches.of(SCHEMA, leaks.allocator(), rows)) {
            bag.add(batch);
        }
    }

    private List<Row> rows(RowBag bag) {
        List<Long> rows = new ArrayList<>();
        for (long row = bag.first(); row != 0; row = RowTable.next(row)) {
            rows.add(row);
        }
        long[] addresses = rows.stream().mapToLong(Long::longValue).toArray();
        try (Batch batch = Batch.of(SCHEMA, bag.decode(addresses, addresses.length), addresses.length)) {
            return TestBatches.rows(batch);
        }
    }

    @Test
    void aBagHasEachRowOnceWithItsWeight() throws IOException {
        TestContext context = new TestContext(leaks.allocator());
        Row one = Row.of(1L, "x");
        Row two = Row.of(2L, null);
        Row three = Row.of(3L, "z");
        try (RowBag bag = new RowBag(SCHEMA, context);
                RowBag other = new RowBag(SCHEMA, context)) {
            assertEquals(0, bag.first());
            add(bag, one, two, one);
            assertEquals(2, bag.size());
            assertEquals(2, context.metrics().stateEntries());
            assertTrue(context.metrics().stateBytes() > 0);
            assertEquals(List.of(one, two), rows(bag));
            assertEquals(2, RowTable.weight(bag.first()));
            assertEquals(2, bag.codec().columnCount());
            bag.snapshot(writer, StateFormats.HELD, -1);
            try (Batch batch =
                    TestBatches.weighted(SCHEMA, leaks.allocator(), List.of(one, three), new long[] {-2, 5})) {
                bag.add(batch);
            }
            assertEquals(List.of(two, three), rows(bag));
            bag.remove(bag.first());
            bag.reportSize();
            assertEquals(1, context.metrics().stateEntries());
            assertEquals(List.of(three), rows(bag));
            assertEquals(5, RowTable.weight(bag.first()));
            add(other, two);
            other.restore(reader, StateFormats.HELD);
            assertEquals(List.of(two, one), rows(other));
            assertEquals(2, RowTable.weight(other.first()));
        }
    }

    @Test
    void whenMemoryEndsAmongColumnsThoseBeforeAreFreed() {
        try (BufferAllocator little = leaks.allocator().newChildAllocator("little", 0, 1 << 20)) {
            TestContext context = new TestContext(little);
            try (RowBag bag = new RowBag(SCHEMA, context)) {
                add(bag, Row.of(1L, "x"));
                long[] row = {bag.first()};
                long before = little.getAllocatedMemory();
                int failures = 0;
                for (long more = 0; more < 200; more++) {
                    little.setLimit(before + more);
                    try {
                        for (FieldVector column : bag.decode(row, 1)) {
                            column.close();
                        }
                    } catch (OutOfMemoryException e) {
                        failures++;
                    }
                    assertEquals(before, little.getAllocatedMemory());
                }
                assertTrue(failures > 0 && failures < 200, failures + " failures");
                little.setLimit(before);
                assertThrows(OutOfMemoryException.class, () -> bag.decode(row, 1));
                little.setLimit(1 << 20);
            }
        }
    }
}
