package dev.millrace.engine.state.frozen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupPart.EntryWriter;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Freezing.Kept;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables that are written time and again while they change: what was kept, with what changed since, is what there was. */
@Tag("long")
final class ChangedEntriesTest {
    private static final int KEY = GroupTable.BODY;
    private static final int VALUE = GroupTable.BODY + 8;
    private static final EntryWriter KEYS = (entry, out) -> out.writeLong(Memory.getLong(entry + KEY));
    private static final EntryWriter ENTRY = (entry, out) -> {
        out.writeLong(Memory.getLong(entry + KEY));
        out.writeLong(Memory.getLong(entry + VALUE));
    };

    /** A table, and what is to be in it. */
    private static final class Table implements AutoCloseable {
        private final SplittableRandom random;
        private final GroupTable table;
        private final ChangedEntries changes;
        private final Map<Long, Long> entries = new HashMap<>(); // by key
        private final Map<Long, Long> values = new HashMap<>();
        private final List<Long> keys = new ArrayList<>();

        Table(long seed, RootAllocator root) {
            this.random = new SplittableRandom(seed);
            this.table = new GroupTable(root, new long[2]);
            this.changes = new ChangedEntries(table, KEYS, root);
        }

        void change() {
            int what = random.nextInt(8);
            if (what == 0 || keys.isEmpty()) {
                insert(random.nextLong(1 << 20));
                return;
            }
            int at = random.nextInt(keys.size());
            long key = keys.get(at);
            long entry = entries.get(key);
            changes.beforeChange(entry);
            if (what == 1) { // its memory is the next new one's
                changes.gone(entry);
                table.remove(entry);
                entries.remove(key);
                values.remove(key);
                keys.set(at, keys.get(keys.size() - 1));
                keys.remove(keys.size() - 1);
            } else {
                put(entry, key);
            }
        }

        void insert(long key) {
            if (!entries.containsKey(key)) {
                long entry = table.insertNew(hash(key));
                Memory.putLong(entry + KEY, key);
                changes.beforeChange(entry);
                entries.put(key, entry);
                keys.add(key);
                put(entry, key);
            }
        }

        private void put(long entry, long key) {
            long value = random.nextLong(1, Long.MAX_VALUE);
            Memory.putLong(entry + VALUE, value);
            values.put(key, value);
        }

        EntryWatch freeze(Kept kept) {
            if (changes.freeze(kept, table.size())) {
                return changes.freezeChanges(StateFormats.GROUPS_SINCE, ENTRY);
            }
            FrozenEntries all =
                    new FrozenEntries(table, StateFormats.GROUPS, ENTRY, entry -> Memory.getLong(entry + VALUE) != 0);
            changes.watch(all);
            return all;
        }

        @Override
        public void close() {
            changes.close();
            table.close();
        }
    }

    private static long hash(long key) {
        return (key + 1) * 0x9E3779B97F4A7C15L ^ key << 40;
    }

    /** What was written at one moment. */
    private static final class Step {
        private final List<StateFormat> states = new ArrayList<>();
        private final List<Integer> groups = new ArrayList<>();
        private final List<ByteArrayOutputStream> bytes = new ArrayList<>();

        DataOutput begin(StateFormat state, int group) {
            states.add(state);
            groups.add(group);
            bytes.add(new ByteArrayOutputStream());
            return new DataOutputStream(bytes.get(bytes.size() - 1));
        }

        long entries() throws IOException {
            long all = 0;
            for (int part = 0; part < states.size(); part++) {
                DataInputStream in = input(part);
                all += states.get(part).equals(StateFormats.GROUPS_SINCE) && in.readByte() == FrozenChanges.GONE
                        ? 0
                        : in.readInt();
            }
            return all;
        }

        private DataInputStream input(int part) {
            return new DataInputStream(new ByteArrayInputStream(bytes.get(part).toByteArray()));
        }

        void addTo(Map<Long, Long> read) throws IOException {
            for (int part = 0; part < states.size(); part++) {
                DataInputStream in = input(part);
                boolean isOfChanges = states.get(part).equals(StateFormats.GROUPS_SINCE);
                boolean areGone = isOfChanges && FrozenChanges.readKind(in) == FrozenChanges.GONE;
                for (int left = in.readInt(); left > 0; left--) {
                    long key = in.readLong();
                    assertEquals(groups.get(part), KeyGroups.of(hash(key)));
                    if (areGone) {
                        read.remove(key);
                    } else {
                        Long before = read.put(key, in.readLong());
                        assertTrue(isOfChanges || before == null, "all is written once");
                    }
                }
                assertEquals(0, in.available());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void whatIsKeptWithWhatChangedSinceIsWhatThereWas(long seed) throws IOException {
        int some = 0;
        try (RootAllocator root = new RootAllocator();
                Table table = new Table(seed, root)) {
            SplittableRandom random = table.random;
            for (int i = random.nextInt(30_000); i > 0; i--) {
                table.insert(i);
            }
            List<Step> kept = List.of(); // that count
            List<Step> last = List.of(); // that may
            for (int round = 0; round < 40; round++) {
                boolean lastCounts = !last.isEmpty() && random.nextInt(3) > 0;
                kept = random.nextInt(20) == 0 ? List.of() : lastCounts ? last : kept;
                Kept said = kept.isEmpty() ? Kept.NOTHING : kept == last ? Kept.ALL : Kept.ALL_BUT_LAST;
                Map<Long, Long> expected = new HashMap<>(table.values);
                EntryWatch frozen = table.freeze(said);
                List<Step> steps = new ArrayList<>(frozen.isWhole() ? List.of() : kept);
                assertFalse(said == Kept.NOTHING && !frozen.isWhole());
                Step step = new Step();
                steps.add(step);
                boolean isGivenUp = random.nextInt(6) == 0;
                for (boolean done = false; !done; ) {
                    for (int left = random.nextInt(300); left > 0; left--) {
                        table.change();
                    }
                    done = frozen.writeMore(step::begin) || isGivenUp;
                }
                frozen.close();
                last = isGivenUp ? List.of() : steps;
                if (!isGivenUp) {
                    Map<Long, Long> read = new HashMap<>();
                    for (Step each : steps) {
                        each.addTo(read);
                    }
                    assertEquals(expected, read);
                    some += steps.size() > 1 ? 1 : 0;
                }
                for (int left = random.nextInt(1 << random.nextInt(14)); left > 0; left--) {
                    table.change();
                }
            }
        }
        assertTrue(some > 5, "changes alone were written " + some + " times");
    }

    @Test
    void ofManyOnlyThoseThatChangedAreWritten() throws IOException {
        try (RootAllocator root = new RootAllocator();
                Table table = new Table(1, root)) {
            for (int i = 0; i < 10_000; i++) {
                table.insert(i);
            }
            writeAll(table.freeze(Kept.NOTHING), 10_000);
            for (int i = 0; i < 20; i++) {
                table.insert(20_000 + i);
            }
            writeAll(table.freeze(Kept.ALL), 20);
            writeAll(table.freeze(Kept.ALL), 0);
            table.insert(30_000);
            writeAll(table.freeze(Kept.ALL), 1);
            writeAll(table.freeze(Kept.ALL_BUT_LAST), 1);
            writeAll(table.freeze(Kept.ALL), 0);
        }
    }

    /** Whoever reads it reads no more than twice what there is. */
    @Test
    void whereAllChangesAllIsWrittenTimeAndAgain() throws IOException {
        try (RootAllocator root = new RootAllocator();
                Table table = new Table(1, root)) {
            for (int i = 0; i < 10_000; i++) {
                table.insert(i);
            }
            int whole = 0;
            Kept kept = Kept.NOTHING;
            for (int round = 0; round < 9; round++) {
                EntryWatch frozen = table.freeze(kept);
                whole += frozen.isWhole() ? 1 : 0;
                writeAll(frozen, round == 0 ? 10_000 : frozen.isWhole() ? 10_000 : 4_000);
                for (long key = 0; key < 4_000; key++) {
                    long entry = table.entries.get(key);
                    table.changes.beforeChange(entry);
                    table.put(entry, key);
                }
                kept = Kept.ALL;
            }
            assertEquals(3, whole);
        }
    }

    private static void writeAll(EntryWatch frozen, long entries) throws IOException {
        Step step = new Step();
        boolean done = false;
        while (!done) {
            done = frozen.writeMore(step::begin);
        }
        frozen.close();
        assertEquals(entries, step.entries());
    }
}
