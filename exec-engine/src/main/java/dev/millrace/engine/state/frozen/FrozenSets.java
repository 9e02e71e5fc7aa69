package dev.millrace.engine.state.frozen;

import dev.millrace.batch.Closing;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupEntries;
import dev.millrace.engine.state.KeyGroupPart.EntryWriter;
import dev.millrace.engine.state.MarkedSets;
import dev.millrace.memory.Memory;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateWriter;
import java.io.ByteArrayOutputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * {@link MarkedSets} of the entries of a table, called groups, as they were at one moment, or what had been added to them since another, written
 * while ids come.
 *
 * <pre>
 *   part:   number of groups, 4 bytes | group*
 *   group:  hash and keys | 1 if all values that it had before are gone, 1 byte | number of values, 4 bytes | value*
 *   value:  what the owner writes of an id and its marks
 * </pre>
 *
 * What sets had at that moment is what they have, but for what {@link AddedIds} were added since. A set that loses its values before its
 * turn is written then, to the Java heap; of a large one ids are copied when its turn comes, and their values written by and by. One thread.
 */
public final class FrozenSets implements FrozenState {
    private static final int TOGETHER = 1 << 13; // values that are written at a time
    private static final long BYTES = Integer.BYTES; // of an id with marks
    private static final int FEWEST_IDS = 1 << 6;
    private static final int FEWEST_SLOTS = 1 << 6;
    private static final int EARLY_BYTES = 4 << 10; // of a key group, that are worth a part of their own

    /** A set that is written in several parts. */
    private record Large(byte[] keys, int group, boolean beganAnew, ArrowBuf ids, int count) implements AutoCloseable {
        @Override
        public void close() {
            ids.close();
        }
    }

    /** Writes what an id stands for. */
    @FunctionalInterface
    public interface IdWriter {
        /** @param marked an id with its marks, as {@link MarkedSets#copy} has them */
        void write(int marked, DataOutput out) throws IOException;
    }

    private final MarkedSets sets;
    private final EntryPlaces places;
    private final IdWriter values;
    private final AddedIds added;
    private final GroupTable table; // that is gone over: of groups, or of those with additions
    private final boolean isWhole;
    private final Parts parts;
    private final EntryWriter keys;
    private final int offset; // of a set's header in a group
    private final BufferAllocator allocator;
    private final EntryScan scan;
    private final KeyGroupBytes early;
    private final Deque<Large> large = new ArrayDeque<>();
    private int writtenOfLarge; // of the first one
    private Optional<ArrowBuf> ids = Optional.empty(); // with marks, of a set under way
    private int count;
    private boolean isClosed;

    /**
     * @param places of what ids stand for, all known before {@code values} is asked
     * @param keys writes hash and keys of a group
     * @param offset of a set's header in a group
     */
    public FrozenSets(
            GroupTable groups,
            MarkedSets sets,
            int offset,
            AddedIds added,
            EntryPlaces places,
            boolean isWhole,
            Parts parts,
            EntryWriter keys,
            IdWriter values,
            BufferAllocator allocator) {
        this.sets = sets;
        this.places = places;
        this.values = values;
        this.added = added;
        this.table = isWhole ? groups : added.frozen().table();
        this.isWhole = isWhole;
        this.parts = parts;
        this.keys = keys;
        this.offset = offset;
        this.allocator = allocator;
        this.scan = new EntryScan(table);
        this.early = new KeyGroupBytes(this::group);
        added.setWritten(true);
    }

    private long group(long entry) {
        return isWhole ? entry : AddedIds.group(entry);
    }

    private boolean beganAnew(long entry) {
        return !isWhole && AddedIds.beganAnew(entry);
    }

    @Override
    public boolean isWhole() {
        return isWhole;
    }

    /** A group is about to lose its values, or to go, or both. */
    public void beforeLoss(long group) {
        if (scan.isToCome(Memory.getLong(group))) {
            long entry = isWhole ? group : added.frozen().find(group);
            if (entry != 0 && hasSome(entry)) {
                boolean found = false;
                while (!found) { // at the first time only
                    found = places.find();
                }
                early.add(
                        entry, this::writeGroup); // to come no more: its values go, and so does what was added to them
            }
        }
    }

    private boolean hasSome(long entry) {
        collect(entry);
        return count > 0 || beganAnew(entry);
    }

    /** Finds what is to be written of an entry's set: ids and marks. */
    private void collect(long entry) {
        long header = isWhole ? entry + offset : AddedIds.set(entry);
        long since = isWhole ? added.since().find(entry) : 0;
        count = 0;
        if (since != 0 && AddedIds.beganAnew(since)) {
            return; // all of it came later, and what there was is written
        }
        long to = room(MarkedSets.size(header));
        count = MarkedSets.copy(header, to);
        if (since != 0) {
            int left = 0;
            for (int i = 0; i < count; i++) {
                int marked = Memory.getInt(to + BYTES * i);
                int later = MarkedSets.marks(AddedIds.set(since), marked >>> MarkedSets.MARKS);
                if (MarkedSets.marks(marked & ~later) != 0) {
                    Memory.putInt(to + BYTES * left++, marked & ~later);
                }
            }
            count = left;
        }
    }

    private long room(int most) {
        if (ids.isEmpty() || ids.get().capacity() < BYTES * most) {
            ids.ifPresent(ArrowBuf::close);
            ids = Optional.empty();
            ids = Optional.of(allocator.buffer(BYTES * Math.max(FEWEST_IDS, most)));
        }
        return ids.get().memoryAddress();
    }

    private int marked(int i) {
        return Memory.getInt(ids.orElseThrow().memoryAddress() + BYTES * i);
    }

    @Override
    public boolean writeMore(StateWriter to) throws IOException {
        if (!places.find()) {
            return false;
        }
        if (large.isEmpty()) {
            writeNext(to);
        } else {
            writeSome(large.getFirst(), to);
        }
        boolean isDone = scan.isDone() && large.isEmpty();
        early.takeOut(isDone ? 0 : EARLY_BYTES, group -> parts.begin(to, group));
        return isDone;
    }

    private void writeNext(StateWriter to) throws IOException {
        long inSet = (isWhole ? sets.ids() : added.frozen().size()) / Math.max(1, table.size());
        int found = scan.advance((int) Math.max(FEWEST_SLOTS, EntryScan.SLOTS / Math.max(1, inSet)));
        long[] small = new long[found];
        int smallCount = 0;
        for (int i = 0; i < found; i++) {
            long entry = scan.entries()[i];
            int size = MarkedSets.size(isWhole ? entry + offset : AddedIds.set(entry));
            if (size > TOGETHER) {
                collect(entry);
                putAside(entry);
            } else if (size > 0 || beganAnew(entry)) {
                small[smallCount++] = entry;
            }
        }
        KeyGroupEntries some = new KeyGroupEntries(small, smallCount, this::group);
        for (int group = 0; group < KeyGroups.COUNT; group++) {
            if (some.count(group) > 0) {
                some.write(group, parts.begin(to, group), (entry, out) -> {
                    collect(entry);
                    writeGroup(entry, out);
                });
            }
        }
    }

    /** Has a large set be written by and by, as it is now. */
    private void putAside(long entry) throws IOException {
        if (count == 0) {
            return; // a group that is new
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        keys.write(group(entry), new DataOutputStream(bytes));
        int group = KeyGroups.of(Memory.getLong(group(entry)));
        large.add(new Large(bytes.toByteArray(), group, beganAnew(entry), ids.orElseThrow(), count));
        ids = Optional.empty();
    }

    private void writeSome(Large set, StateWriter to) throws IOException {
        int end = Math.min(set.count(), writtenOfLarge + TOGETHER);
        DataOutput out = parts.begin(to, set.group());
        out.writeInt(1);
        out.write(set.keys());
        out.writeBoolean(set.beganAnew() && writtenOfLarge == 0);
        out.writeInt(end - writtenOfLarge);
        for (int i = writtenOfLarge; i < end; i++) {
            values.write(Memory.getInt(set.ids().memoryAddress() + BYTES * i), out);
        }
        writtenOfLarge = end;
        if (end == set.count()) {
            writtenOfLarge = 0;
            large.removeFirst().close();
        }
    }

    /** Writes a group with what was collected of it: nothing, if all of it came later. */
    private void writeGroup(long entry, DataOutput out) throws IOException {
        keys.write(group(entry), out);
        out.writeBoolean(beganAnew(entry));
        out.writeInt(count);
        for (int i = 0; i < count; i++) {
            values.write(marked(i), out);
        }
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        scan.end();
        added.setWritten(false);
        early.clear();
        List<AutoCloseable> all = new ArrayList<>(large);
        ids.ifPresent(all::add);
        large.clear();
        ids = Optional.empty();
        Closing.all(all);
    }
}
