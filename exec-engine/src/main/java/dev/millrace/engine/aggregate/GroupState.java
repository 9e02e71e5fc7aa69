package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedImages;
import dev.millrace.batch.text.ValueText;
import dev.millrace.engine.aggregate.AggregateLayout.DistinctSet;
import dev.millrace.engine.aggregate.AggregateLayout.StateSlot;
import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.Scratch;
import dev.millrace.engine.state.cold.ColdEntries;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.kernel.RowFailures;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** The groups of a stream, or of a slice of it: their entries, their distinct values and what their calls keep. */
public final class GroupState implements AutoCloseable {
    private static final int CHUNK = 1024;
    private static final int MOST_KEY_TEXT = 60;

    private final AggregateLayout layout;
    private final GroupKernels kernels;
    private final BufferAllocator allocator;
    private final GroupTable table;
    private final List<DistinctValues> distinct = new ArrayList<>();
    private final List<Collection> collections = new ArrayList<>();
    private final Results results;
    private Optional<ColdEntries> cold = Optional.empty();

    public GroupState(GroupKernels kernels, BufferAllocator allocator) {
        this.layout = kernels.layout();
        this.kernels = kernels;
        this.allocator = allocator;
        this.results = new Results(layout, allocator);
        this.table = new GroupTable(allocator, layout.initial());
        try {
            for (DistinctSet set : layout.distinctSets()) {
                distinct.add(DistinctValues.of(layout, set, table.memory(), allocator));
            }
            for (AggregateLayout.Collected collected : layout.collections()) {
                collections.add(Collection.of(layout, collected, allocator));
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /**
     * Has groups that are not linked be on disk when memory is short, where nothing but the table knows where they are: without collections
     * there is no word of {@link FailedGroups}, either. Before there are any. They are in no {@link EntryCursor} then, but for {@link #fetchAll}.
     */
    void mayBeCold() {
        if (distinct.isEmpty() && collections.isEmpty()) {
            cold = Optional.of(new ColdEntries(table, GroupSnapshot.byteSlots(layout), allocator));
        }
    }

    /** The groups that are not in the table. */
    Optional<ColdEntries> cold() {
        return cold;
    }

    /** Between batches: makes room where memory is short. */
    void relieve() {
        if (cold.isPresent()) {
            cold.get().relieve();
        }
    }

    /** The same when no group is linked any more. */
    void relieveUnlinked() {
        if (cold.isPresent()) {
            cold.get().relieveUnlinked();
        }
    }

    /** Brings all groups into the table. */
    void fetchAll() {
        cold.ifPresent(ColdEntries::fetchAll);
    }

    /** How many groups there are, wherever they are. */
    long size() {
        return table.size() + (cold.isPresent() ? cold.get().size() : 0);
    }

    /** An empty state of the same layout. */
    GroupState another() {
        return new GroupState(kernels, allocator);
    }

    public GroupTable table() {
        return table;
    }

    public List<DistinctValues> distinct() {
        return distinct;
    }

    List<Collection> collections() {
        return collections;
    }

    public AggregateLayout layout() {
        return layout;
    }

    /** Bytes of all tables. */
    public long bytes() {
        long bytes = table.bytes();
        for (DistinctValues values : distinct) {
            bytes += values.bytes();
        }
        for (Collection collection : collections) {
            bytes += collection.bytes();
        }
        return bytes;
    }

    /**
     * Adds rows of a batch to their groups.
     *
     * @param images of this batch
     * @param log used only if the kernels are logged
     */
    public void add(Batch batch, NestedImages images, int[] rows, int count, ChangeLog log) {
        long[] groups = Scratch.longs(count);
        try {
            add(batch, images, rows, count, groups, log);
        } finally {
            Scratch.free(groups);
        }
    }

    /** Adds rows to groups found by the caller, one for each row; the kernels are made for that. */
    public void addTo(long[] given, Batch batch, NestedImages images, int[] rows, int count, ChangeLog noLog) {
        add(batch, images, rows, count, given, noLog);
    }

    private void add(Batch batch, NestedImages images, int[] rows, int count, long[] entries, ChangeLog log) {
        GroupKernels.Loops loops = kernels.loops(batch);
        loops.first().add(table, batch, images, rows, count, entries, log);
        for (GroupKernel more : loops.more()) {
            more.add(table, batch, images, rows, count, entries, log);
        }
        for (int i = 0; i < distinct.size(); i++) {
            distinct.get(i).add(loops.distinct().get(i), batch, images, rows, count, entries);
        }
        for (Collection collection : collections) {
            collection.add(batch, images, rows, count, entries);
        }
    }

    /** Adds all groups of another state of the same layout, which keeps them. */
    public void merge(GroupState other) {
        EntryCursor cursor = new EntryCursor(other.table, CHUNK);
        long[] from = new long[distinct.isEmpty() ? 0 : other.table.size()]; // of all chunks
        long[] to = new long[Math.max(CHUNK, from.length)];
        int merged = 0;
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            long[] chunk = cursor.entries();
            long[] chunkTo = distinct.isEmpty() ? to : new long[count];
            for (int i = 0; i < count; i++) {
                chunkTo[i] = findOrInsert(chunk[i]);
            }
            mergeGroups(other, chunk, chunkTo, count);
            if (!distinct.isEmpty()) {
                System.arraycopy(chunk, 0, from, merged, count);
                System.arraycopy(chunkTo, 0, to, merged, count);
                merged += count;
            }
        }
        for (int i = 0; i < distinct.size(); i++) {
            distinct.get(i).merge(other.distinct.get(i), from, to, merged);
        }
    }

    /** Adds what groups of another state hold, but for their distinct values, to groups of this one. */
    private void mergeGroups(GroupState other, long[] from, long[] to, int count) {
        for (StateSlot state : layout.states()) {
            if (!state.state().distinct()) {
                StateMerge.merge(state, from, to, count, table.memory());
            }
        }
        for (int i = 0; i < collections.size(); i++) {
            collections.get(i).merge(other.collections.get(i), from, to, count);
        }
    }

    /**
     * Adds groups of this state to others of it with the same keys and removes them.
     *
     * @param from groups whose link is the group they go to, which is not removed itself and has the same hash
     */
    public void fold(long[] from, int count) {
        long[] to = new long[count];
        for (int i = 0; i < count; i++) {
            to[i] = Memory.getLong(from[i] + GroupTable.LINK);
        }
        mergeGroups(this, from, to, count);
        for (DistinctValues values : distinct) {
            values.fold(table, from, to, count);
        }
        for (int i = 0; i < count; i++) {
            remove(from[i]);
        }
    }

    /** The entry of this table with the keys of an entry of another. */
    long findOrInsert(long like) {
        long hash = Memory.getLong(like);
        KeyLayout keys = layout.keys();
        long found = keys.find(table, hash, like);
        if (found >= 0) {
            return found;
        }
        long entry = table.insert(hash, -1 - found);
        keys.copy(like, entry, table.memory());
        return entry;
    }

    /** Removes groups, and their distinct values. */
    public void removeAll(long[] entries, int count) {
        for (DistinctValues values : distinct) {
            values.remove(table, entries, count);
        }
        for (int i = 0; i < count; i++) {
            remove(entries[i]);
        }
    }

    /** Removes a group that has no distinct values left, and all it points to. */
    void remove(long entry) {
        for (DistinctValues values : distinct) {
            values.gone(entry);
        }
        free(entry);
        table.remove(entry);
    }

    /** Frees what a group points to, its keys among it, but for its distinct values. */
    void free(long entry) {
        layout.keys().free(entry, table.memory());
        for (StateSlot slot : layout.states()) {
            if (slot.isBytes()) {
                ByteSlots.free(table.memory(), entry + slot.offset());
            }
        }
        for (Collection collection : collections) {
            collection.remove(entry, table.memory());
        }
    }

    /** Empties a group that stays where it is; its link, and what was last emitted of it, too. */
    void reset(long entry) {
        long link = Memory.getLong(entry + GroupTable.LINK);
        Memory.putLong(entry + GroupTable.LINK, 0);
        for (DistinctValues values : distinct) {
            values.remove(table, new long[] {entry}, 1);
        }
        for (StateSlot slot : layout.states()) {
            if (slot.isBytes()) {
                ByteSlots.free(table.memory(), entry + slot.offset());
            }
        }
        long[] initial = layout.initial();
        for (int at = layout.stateOffset(); at < layout.stateEnd(); at += 8) {
            Memory.putLong(entry + at, initial[(at - GroupTable.BODY) / 8]);
        }
        for (int i = 0; i < collections.size(); i++) {
            collections.get(i).remove(entry, table.memory());
            Memory.fill(entry + layout.collections().get(i).offset(), RowTable.LIST_BYTES + 8, (byte) 0);
        }
        Memory.putLong(entry + GroupTable.LINK, link);
    }

    /** Whether the memory is worth keeping for another slice: clearing a large index for few groups is not. */
    public boolean isWellFilled() {
        return table.mask() < 1024 || table.mask() < 32L * table.size();
    }

    /** Removes all groups; keeps memory for reuse. */
    public void clear() {
        table.clear();
        distinct.forEach(DistinctValues::clear);
        collections.forEach(Collection::clear);
    }

    /** The values of a key in some groups. */
    public FieldVector key(int index, Field field, long[] entries, int count) {
        return layout.keys().vector(index, field, entries, count, allocator);
    }

    /** The results of a call for some groups. */
    public FieldVector call(int index, Field field, long[] entries, int count) {
        AggregateCall call = layout.calls().get(index);
        Optional<AggregateLayout.Collected> collected = layout.collected(index);
        return collected.isPresent()
                ? collections.get(layout.collections().indexOf(collected.get())).results(field, entries, count)
                : results.vector(call, field, entries, count);
    }

    /** A failure of a group's, with its keys. */
    public MillraceException named(MillraceException why, Schema schema, long entry) {
        return layout.keys().keys().isEmpty() ? why : why.in("group (" + keyText(schema, entry) + ")");
    }

    /**
     * A failure of some groups' results, with the keys of one that fails.
     *
     * @param where what comes before them, by the entry of that group
     */
    public RuntimeException named(
            RuntimeException failure, Schema schema, long[] entries, int count, LongFunction<String> where) {
        RuntimeException last = failure;
        int from = 0;
        for (int to = count; to - from > 1 && RowFailures.ofData(last).isPresent(); ) {
            int middle = (from + to) >>> 1;
            Optional<RuntimeException> first = failureOf(schema, Arrays.copyOfRange(entries, from, middle));
            if (first.isPresent()) {
                last = first.get();
                to = middle;
            } else {
                from = middle;
            }
        }
        Optional<MillraceException> why = RowFailures.ofData(last);
        return why.isPresent() ? named(why.get(), schema, entries[from]).in(where.apply(entries[from])) : last;
    }

    private Optional<RuntimeException> failureOf(Schema schema, long[] entries) {
        try {
            for (int call = 0; call < layout.calls().size(); call++) {
                Field field = schema.field(layout.keys().keys().size() + call);
                call(call, field, entries, entries.length).close();
            }
            return Optional.empty();
        } catch (RuntimeException failure) {
            return Optional.of(failure);
        }
    }

    private String keyText(Schema schema, long entry) {
        StringBuilder text = new StringBuilder();
        long[] one = {entry};
        for (int key = 0; key < layout.keys().keys().size(); key++) {
            Field of = schema.field(key);
            try (FieldVector value = key(key, of, one, 1)) {
                text.append(key == 0 ? "" : ", ")
                        .append(of.name())
                        .append(" = ")
                        .append(shortened(ValueText.format(of.type(), value, 0).orElse("NULL")));
            }
        }
        return text.toString();
    }

    private static String shortened(String text) {
        return text.length() <= MOST_KEY_TEXT ? text : text.substring(0, MOST_KEY_TEXT) + "..";
    }

    /** The states of some groups as columns, from column {@code firstState} of a partial phase's schema on. */
    public List<FieldVector> states(Schema schema, int firstState, long[] entries, int count) {
        return StateColumns.vectors(layout, schema, firstState, entries, count, allocator);
    }

    /** A new group of a state without keys; its hash is any that others do not have. */
    public long newGroup(long hash) {
        return table.insertNew(hash);
    }

    /** A copy of a group's states in {@code memory} for {@link #simpleResults}; not of states that point elsewhere. */
    public long copyStates(long entry, StateMemory memory) {
        int offset = layout.stateOffset();
        long image = memory.allocate(layout.stateEnd() - offset) - offset;
        Memory.copy(entry + offset, image + offset, layout.stateEnd() - offset);
        for (StateSlot slot : layout.states()) {
            long from = entry + slot.offset();
            if (slot.isBytes() && ByteSlots.isLong(from)) {
                ByteSlots.store(memory, image + slot.offset(), ByteSlots.address(from), ByteSlots.length(from));
            }
        }
        return image;
    }

    /** What {@link Results} gives for a call that needs no collection; {@code groups} may be copies of states. */
    public FieldVector simpleResults(int index, Field field, long[] images, int count) {
        return results.vector(layout.calls().get(index), field, images, count);
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>();
        cold.ifPresent(all::add);
        all.add(table);
        all.addAll(distinct);
        all.addAll(collections);
        Closing.all(all);
    }
}
