package dev.millrace.engine.state.cold;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.frozen.ChangedEntries;
import dev.millrace.engine.state.frozen.FrozenChanges;
import dev.millrace.engine.state.frozen.FrozenEntries;
import dev.millrace.memory.ChunkSource;
import dev.millrace.memory.Memory;
import dev.millrace.memory.PooledAllocation;
import dev.millrace.operator.Freezing;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.KeyGroups;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.apache.arrow.memory.AllocationListener;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("long")
class ColdEntriesTest {
    private static final int KEY = GroupTable.BODY;
    private static final int VALUE = KEY + 8;
    private static final int TEXT = KEY + 16;
    private static final long DISK_IS_FULL = 77;

    private final class Short implements ChunkSource {
        private boolean isShort = true;
        private long fullFrom = Long.MAX_VALUE;
        private long takenOnDisk;

        @Override
        public long leastBytes() {
            return 1;
        }

        @Override
        public Optional<Chunk> take(BufferAllocator owner, long bytes) {
            if (owner.getName().equals(ON_DISK) && ++takenOnDisk >= fullFrom) {
                throw new OutOfMemoryException("" + DISK_IS_FULL);
            }
            return Optional.empty();
        }

        @Override
        public long allowance(BufferAllocator owner) {
            return isShort ? 0 : Long.MAX_VALUE;
        }
    }

    private final Short memory = new Short();
    private RootAllocator root;

    @BeforeEach
    void open() {
        root = PooledAllocation.newRoot(1L << 30, AllocationListener.NOOP, memory);
    }

    @AfterEach
    void close() {
        if (root != null) {
            root.close(); // fails if anything is left
        }
    }

    private record Entry(long value, String text) {}

    /** A table and what is to be in it. */
    private final class Kept implements AutoCloseable {
        private final BufferAllocator allocator = root.newChildAllocator("kept", 0, Long.MAX_VALUE);
        private final GroupTable table;
        private final ColdEntries cold;
        private final long hashes; // how many different ones there are
        private final Map<Long, Entry> expected = new HashMap<>();
        private final ChangedEntries changes;

        Kept(int words, long hashes) {
            this.table = new GroupTable(allocator, new long[words]);
            this.cold = new ColdEntries(table, new int[] {TEXT}, allocator);
            this.changes =
                    new ChangedEntries(table, (entry, out) -> out.writeLong(Memory.getLong(entry + KEY)), allocator);
            cold.tell(changes);
            this.hashes = hashes;
        }

        long hash(long key) {
            return key % hashes * 0x9E3779B97F4A7C15L;
        }

        /** As generated code does; 0 if it is not there. */
        long find(long key) {
            long hash = hash(key);
            long slot = hash << KeyGroups.BITS >>> table.shift();
            while (true) {
                long word = table.word(slot);
                if (word == 0) {
                    if (!table.fetch(hash)) {
                        return 0;
                    }
                    slot = hash << KeyGroups.BITS >>> table.shift();
                    continue;
                }
                long entry = word & GroupTable.ADDRESS;
                if (Memory.getLong(entry) == hash && Memory.getLong(entry + KEY) == key) {
                    return entry;
                }
                slot = slot + 1 & table.mask();
            }
        }

        void put(long key, Entry value) {
            long entry = find(key);
            if (entry == 0) {
                entry = table.insertNew(hash(key));
                Memory.putLong(entry + KEY, key);
                beforeChange(entry);
            } else {
                beforeChange(entry);
                ByteSlots.free(table.memory(), entry + TEXT);
            }
            Memory.putLong(entry + VALUE, value.value());
            byte[] text = value.text().getBytes(StandardCharsets.US_ASCII);
            long bytes = Memory.allocate(text.length + 8L);
            Memory.copyIn(text, 0, bytes, text.length);
            ByteSlots.store(table.memory(), entry + TEXT, bytes, text.length);
            Memory.free(bytes);
            expected.put(key, value);
        }

        private void beforeChange(long entry) {
            changes.beforeChange(entry);
        }

        /** All that is there now, or what changed. */
        FrozenState freeze(Freezing.Kept keptBefore) {
            if (changes.freeze(keptBefore, table.size() + cold.size())) {
                FrozenChanges changed = changes.freezeChanges(
                        StateFormats.GROUPS_SINCE, (entry, out) -> write(Memory.getLong(entry), entry, out));
                return cold.freeze(changed, changed::begin, this::write);
            }
            FrozenEntries ofTable = new FrozenEntries(
                    table,
                    StateFormats.GROUPS,
                    (entry, out) -> write(Memory.getLong(entry), entry, out),
                    entry -> Memory.getLong(entry + VALUE) != 0);
            changes.watch(ofTable);
            return cold.freeze(ofTable, (to, group) -> to.keyGroup(StateFormats.GROUPS, group), this::write);
        }

        private void write(long hash, long entry, DataOutput out) throws IOException {
            assertEquals(hash(Memory.getLong(entry + KEY)), hash);
            out.writeLong(Memory.getLong(entry + KEY));
            out.writeLong(Memory.getLong(entry + VALUE));
            byte[] text = new byte[ByteSlots.length(entry + TEXT)];
            Memory.copyOut(ByteSlots.address(entry + TEXT), text, 0, text.length);
            out.writeUTF(new String(text, StandardCharsets.US_ASCII));
        }

        /** Reads what was written at one moment, each entry once, over what was before. */
        void read(Map<Integer, List<ByteArrayOutputStream>> groups, boolean isWhole, Map<Long, Entry> written)
                throws IOException {
            Set<Long> keys = new HashSet<>();
            for (Map.Entry<Integer, List<ByteArrayOutputStream>> group : groups.entrySet()) {
                for (ByteArrayOutputStream bytes : group.getValue()) {
                    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes.toByteArray()));
                    boolean areGone = !isWhole && FrozenChanges.readKind(in) == FrozenChanges.GONE;
                    for (int left = in.readInt(); left > 0; left--) {
                        long key = in.readLong();
                        assertEquals(group.getKey(), KeyGroups.of(hash(key)));
                        if (areGone) {
                            written.remove(key);
                        } else {
                            written.put(key, new Entry(in.readLong(), in.readUTF()));
                            assertTrue(keys.add(key), "written twice");
                        }
                    }
                    assertEquals(0, in.available());
                }
            }
        }

        void remove(long key) {
            long entry = find(key);
            assertEquals(expected.remove(key) != null, entry != 0);
            if (entry != 0) {
                beforeChange(entry);
                changes.gone(entry);
                ByteSlots.free(table.memory(), entry + TEXT);
                table.remove(entry);
            }
        }

        void check(long entry) {
            long key = Memory.getLong(entry + KEY);
            Entry of = expected.get(key);
            byte[] text = new byte[ByteSlots.length(entry + TEXT)];
            Memory.copyOut(ByteSlots.address(entry + TEXT), text, 0, text.length);
            assertEquals(of, new Entry(Memory.getLong(entry + VALUE), new String(text, StandardCharsets.US_ASCII)));
        }

        void checkAll() {
            assertEquals(expected.size(), table.size() + cold.size());
            long[] seen = new long[1];
            for (int group = 0; group < KeyGroups.COUNT; group++) {
                int keyGroup = group;
                long before = seen[0];
                cold.each(group, (hash, entry) -> {
                    assertEquals(keyGroup, KeyGroups.of(hash));
                    assertEquals(hash(Memory.getLong(entry + KEY)), hash);
                    check(entry);
                    seen[0]++;
                });
                assertEquals(seen[0] - before, cold.count(group));
            }
            assertEquals(cold.size(), seen[0]);
        }

        @Override
        public void close() {
            changes.close();
            cold.close();
            table.close();
            allocator.close();
        }
    }

    private static Entry random(SplittableRandom random) {
        return new Entry(
                random.nextLong(), "t".repeat(random.nextInt(8) == 0 ? random.nextInt(60) : random.nextInt(16)));
    }

    @ParameterizedTest
    @CsvSource({
        "4, 1000000000, 60000",
        "4, 30000, 60000",
        "60, 1000000000, 40000",
        "60, 5, 9000",
        "600, 1000000000, 12000"
    })
    void whatIsNotInTheTableIsFoundAndChangedAsIfItWere(int words, long hashes, int keys) {
        SplittableRandom random = new SplittableRandom(words + hashes);
        try (Kept kept = new Kept(words, hashes)) {
            long mostElsewhere = 0;
            int steps = hashes == 5 ? 12_000 : 300_000; // of five hashes each is a long way to go
            for (int step = 0; step < steps; step++) {
                long key = random.nextInt(keys);
                switch (random.nextInt(8)) {
                    case 0 -> kept.remove(key);
                    case 1 -> assertEquals(kept.expected.containsKey(key), kept.find(key) != 0);
                    default -> kept.put(key, random(random));
                }
                if (step % 1000 == 0) {
                    memory.isShort = random.nextInt(4) > 0;
                    kept.cold.relieveUnlinked();
                    mostElsewhere = Math.max(mostElsewhere, kept.cold.size());
                }
            }
            assertTrue(mostElsewhere > kept.expected.size() / 8, "much was elsewhere");
            kept.checkAll();
            kept.expected.keySet().forEach(key -> kept.check(kept.find(key)));
            assertEquals(0, kept.cold.size());
            kept.checkAll();
        }
    }

    @Test
    void allCanBeBroughtBackAndGoAgain() {
        SplittableRandom random = new SplittableRandom(3);
        try (Kept kept = new Kept(60, 1L << 40)) {
            for (int round = 0; round < 3; round++) {
                for (int key = 0; key < 40_000; key++) {
                    kept.put(key, random(random));
                    if (key % 500 == 0) {
                        kept.cold.relieveUnlinked();
                    }
                }
                assertTrue(kept.cold.size() > 20_000);
                kept.checkAll();
                kept.cold.fetchAll();
                assertEquals(0, kept.cold.size());
                assertEquals(40_000, kept.table.size());
            }
        }
    }

    /** The moments are long before all is written, and rows go on; at the end of some it is given up, and of some all comes back. */
    @ParameterizedTest
    @CsvSource({"4, 1000000000, 60000", "4, 30000, 60000", "60, 1000000000, 30000"})
    void whatIsFrozenIsWrittenOnceAsItWasWhereverItMovesMeanwhile(int words, long hashes, int keys) throws IOException {
        SplittableRandom random = new SplittableRandom(words * hashes);
        try (Kept kept = new Kept(words, hashes)) {
            int beside = 0;
            int ofChanges = 0;
            Map<Long, Entry> counted = Map.of(); // what a reader has of what is kept
            Map<Long, Entry> last = Map.of();
            for (int round = 0; round < 14; round++) {
                change(kept, random, keys, round % 3 == 0 ? 60_000 : 6_000);
                Map<Long, Entry> expected = new HashMap<>(kept.expected);
                beside += kept.cold.size() > expected.size() / 8 ? 1 : 0;
                Map<Integer, List<ByteArrayOutputStream>> groups = new HashMap<>();
                boolean isLastKept = !last.isEmpty() && random.nextInt(4) > 0;
                counted = isLastKept ? last : counted;
                FrozenState frozen = kept.freeze(
                        counted.isEmpty()
                                ? Freezing.Kept.NOTHING
                                : isLastKept ? Freezing.Kept.ALL : Freezing.Kept.ALL_BUT_LAST);
                boolean isDone = round == 6;
                while (!isDone) {
                    change(kept, random, keys, random.nextInt(3_000));
                    if (round == 5 && random.nextInt(4) == 0) {
                        kept.cold.fetchAll();
                    }
                    isDone = frozen.writeMore((format, group) -> {
                        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                        groups.computeIfAbsent(group, any -> new ArrayList<>()).add(bytes);
                        return new DataOutputStream(bytes);
                    });
                }
                frozen.close();
                frozen.close();
                last = Map.of();
                if (round != 6) { // else it was given up at once
                    last = new HashMap<>(frozen.isWhole() ? Map.of() : counted);
                    kept.read(groups, frozen.isWhole(), last);
                    assertTrue(expected.equals(last), last.size() + " entries of " + expected.size() + ", or others");
                    ofChanges += frozen.isWhole() ? 0 : 1;
                }
            }
            assertTrue(ofChanges > 2, ofChanges + " times only what had changed");
            assertTrue(beside > 4, "much was on disk");
            kept.checkAll();
            kept.freeze(Freezing.Kept.NOTHING); // who is closed with it
        }
    }

    private void change(Kept kept, SplittableRandom random, int keys, int steps) {
        for (int step = 0; step < steps; step++) {
            long key = random.nextInt(keys);
            switch (random.nextInt(8)) {
                case 0 -> kept.remove(key);
                case 1 -> assertEquals(kept.expected.containsKey(key), kept.find(key) != 0);
                default -> kept.put(key, random(random));
            }
            if (step % 500 == 0) {
                kept.cold.relieveUnlinked();
            }
        }
    }

    @Test
    void entriesThatAreLinkedStay() {
        try (Kept kept = new Kept(60, 1L << 40)) {
            for (int key = 0; key < 10_000; key++) {
                kept.put(key, new Entry(key, ""));
                Memory.putLong(kept.find(key) + GroupTable.LINK, 1 + key % 2 * 8L);
            }
            kept.cold.relieve(); // begins
            for (int key = 10_000; key < 30_000; key++) {
                kept.put(key, new Entry(key, ""));
            }
            kept.cold.relieveUnlinked();
            assertEquals(20_000, kept.cold.size());
            for (int key = 0; key < 10_000; key++) {
                Memory.putLong(kept.find(key) + GroupTable.LINK, 0);
            }
            kept.checkAll();
        }
    }

    @Test
    void whereTheDiskIsFullNothingIsLostAndNothingIsHeldTwice() {
        Assumptions.assumeFalse(
                Boolean.getBoolean("millrace.memory.checked"), "where all is checked nothing asks for a place on disk");
        SplittableRandom random = new SplittableRandom(4);
        try (Kept kept = new Kept(60, 1L << 40)) {
            for (int key = 0; key < 20_000; key++) {
                kept.put(key, random(random));
            }
            kept.cold.relieveUnlinked();
            int failures = 0;
            for (int key = 20_000; key < 60_000; key++) {
                kept.put(key, random(random));
                if (key % 1000 == 0) {
                    memory.fullFrom = memory.takenOnDisk + 1 + random.nextInt(4);
                    try {
                        kept.cold.relieveUnlinked();
                    } catch (OutOfMemoryException full) {
                        failures++;
                        kept.checkAll();
                    }
                }
            }
            assertTrue(failures > 5, "while entries move, and while runs are merged");
            memory.fullFrom = memory.takenOnDisk + 1;
            assertThrows(OutOfMemoryException.class, () -> {
                for (int key = 60_000; key < 90_000; key++) {
                    kept.put(key, random(random));
                    kept.cold.relieveUnlinked();
                }
            });
            memory.fullFrom = Long.MAX_VALUE;
            kept.cold.relieveUnlinked();
            kept.checkAll();
            kept.expected.keySet().forEach(key -> kept.check(kept.find(key)));
        }
    }
}
