package dev.millrace.engine.state.frozen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateFormat;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables whose entries are written as they were while they change, come and go. */
final class FrozenEntriesTest {
    private static final int KEY = GroupTable.BODY;
    private static final int VALUE = GroupTable.BODY + 8;

    private final SplittableRandom random = new SplittableRandom(7);
    private final Map<Long, Long> entries = new HashMap<>(); // by key
    private final Map<Long, Long> values = new HashMap<>();
    private final List<Long> keys = new ArrayList<>();

    private static long hash(long key) {
        return (key + 1) * 0x9E3779B97F4A7C15L ^ key << 40;
    }

    /** The index is gone over in one step, in some, and grows meanwhile. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 300, 20_000, 60_000})
    void entriesAreWrittenOnceAsTheyWereAtTheMomentWhateverHappensMeanwhile(int count) throws IOException {
        try (RootAllocator root = new RootAllocator();
                GroupTable table = new GroupTable(root, new long[2])) {
            FrozenEntries none = frozen(table);
            for (int i = 0; i < count; i++) {
                insert(table, none, i);
            }
            none.close();
            for (int round = 0; round < 3; round++) {
                Map<Long, Long> expected = new HashMap<>(values);
                Map<Long, Long> written = new HashMap<>();
                FrozenEntries frozen = frozen(table);
                boolean done = false;
                while (!done) {
                    for (int step = 0; step < 4_000; step++) {
                        change(table, frozen);
                    }
                    Parts parts = new Parts();
                    done = frozen.writeMore(parts::begin);
                    parts.readInto(written);
                }
                frozen.close();
                assertEquals(expected, written);
            }
        }
    }

    private static FrozenEntries frozen(GroupTable table) {
        return new FrozenEntries(
                table,
                StateFormats.GROUPS,
                (entry, out) -> {
                    out.writeLong(Memory.getLong(entry + KEY));
                    out.writeLong(Memory.getLong(entry + VALUE));
                },
                entry -> Memory.getLong(entry + VALUE) != 0);
    }

    private void change(GroupTable table, FrozenEntries frozen) {
        int what = random.nextInt(4);
        if (what == 0 || keys.isEmpty()) {
            insert(table, frozen, 1_000_000 + random.nextInt(1 << 30));
            return;
        }
        int at = random.nextInt(keys.size());
        long key = keys.get(at);
        long entry = entries.get(key);
        frozen.beforeChange(entry);
        if (what == 1) { // its memory is the next new one's
            table.remove(entry);
            entries.remove(key);
            values.remove(key);
            keys.set(at, keys.get(keys.size() - 1));
            keys.remove(keys.size() - 1);
        } else {
            put(entry, key);
        }
    }

    private void insert(GroupTable table, FrozenEntries frozen, long key) {
        if (entries.containsKey(key)) {
            return;
        }
        long entry = table.insertNew(hash(key));
        Memory.putLong(entry + KEY, key);
        frozen.beforeChange(entry);
        entries.put(key, entry);
        keys.add(key);
        put(entry, key);
    }

    private void put(long entry, long key) {
        long value = random.nextLong(1, Long.MAX_VALUE);
        Memory.putLong(entry + VALUE, value);
        values.put(key, value);
    }

    private static final class Parts {
        private final List<Integer> groups = new ArrayList<>();
        private final List<ByteArrayOutputStream> bytes = new ArrayList<>();

        DataOutput begin(StateFormat state, int group) {
            assertEquals(StateFormats.GROUPS, state);
            groups.add(group);
            bytes.add(new ByteArrayOutputStream());
            return new DataOutputStream(bytes.get(bytes.size() - 1));
        }

        void readInto(Map<Long, Long> written) throws IOException {
            for (int part = 0; part < groups.size(); part++) {
                DataInputStream in = new DataInputStream(
                        new ByteArrayInputStream(bytes.get(part).toByteArray()));
                int count = in.readInt();
                assertFalse(count == 0);
                for (int i = 0; i < count; i++) {
                    long key = in.readLong();
                    assertEquals(groups.get(part), KeyGroups.of(hash(key)));
                    assertNull(written.put(key, in.readLong()), "written twice");
                }
                assertEquals(0, in.available());
            }
        }
    }
}
