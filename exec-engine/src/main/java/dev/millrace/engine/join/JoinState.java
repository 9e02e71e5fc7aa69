package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.Rows;
import dev.millrace.engine.state.frozen.ChangedEntries;
import dev.millrace.engine.state.frozen.FrozenChanges;
import dev.millrace.engine.state.frozen.FrozenEntries;
import dev.millrace.engine.state.frozen.Parts;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Freezing.Kept;
import dev.millrace.operator.FrozenState;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The rows of both sides, or of more, by key: an entry per key with a list for each side. A row's note is the weight it matched.
 *
 * <pre>
 *   entry: hash | link | keys | list of left rows | list of right rows | two words of HotKeys, where there are ranges
 * </pre>
 */
final class JoinState implements AutoCloseable {
    private static final int MOST_OF_KEY =
            1 << 12; // rows of a side, with which keys are frozen: they are written together
    private static final int MOST_ON_AVERAGE = 1 << 8;

    private final KeyLayout keys;
    private final GroupTable table;
    private final List<RowTable> rows; // left, right
    private final Optional<HotKeys> hotKeys; // where the residual condition has ranges
    private final boolean[] isIndexed; // whether a side's rows are found by their bytes
    private final BufferAllocator allocator;
    private Optional<ChangedEntries> changes = Optional.empty(); // of keys, once they were frozen
    private long mostOfKey; // rows of a side, as far as is known
    private long rowsOfChanges; // that were written since it was frozen last

    /** The state of a join of two sides. */
    JoinState(KeyLayout keys, Optional<RangeCondition> ranges, BufferAllocator allocator) {
        this(keys, 2, ranges, allocator);
    }

    JoinState(KeyLayout keys, int sides, Optional<RangeCondition> ranges, BufferAllocator allocator) {
        this.keys = keys;
        this.allocator = allocator;
        this.hotKeys = ranges.map(condition -> new HotKeys(condition, allocator));
        int words = (keys.end() - GroupTable.BODY + sides * RowTable.LIST_BYTES) / 8;
        this.table = new GroupTable(allocator, new long[words + (ranges.isPresent() ? 2 : 0)]);
        this.rows = Stream.generate(() -> new RowTable(allocator)).limit(sides).toList();
        this.isIndexed = new boolean[sides];
        if (hotKeys.isPresent()) {
            for (int each = 0; each < 2; each++) {
                int side = each;
                rows.get(side).watch(row -> hotKeys.get().leave(hot(entry(side, RowTable.list(row)), side), side, row));
            }
        }
    }

    private long entry(int side, long list) {
        return list - keys.end() - (long) side * RowTable.LIST_BYTES;
    }

    private long hot(long entry, int side) {
        return list(entry, 2) + 8L * side;
    }

    /** Whether {@link #find} is to be asked for the rows that a row meets, instead of going through the list. */
    boolean isHot(long entry, int side) {
        return hotKeys.isPresent() && HotKeys.isHot(hot(entry, side));
    }

    /** Gives the rows of a side that a row of the other side may meet. */
    void find(long entry, int side, long row, LongConsumer found) {
        hotKeys.orElseThrow().find(hot(entry, side), list(entry, side), side, row, found);
    }

    GroupTable table() {
        return table;
    }

    RowTable rows(int side) {
        return rows.get(side);
    }

    /**
     * Adds to the weight of a row of a side, and returns the row, or 0 when it is gone. Until the first row is taken back,
     * rows are only appended: who never looks for them needs no index.
     */
    long addRow(int side, long entry, long row, int length, long weight) {
        RowTable table = rows.get(side);
        int before = table.size();
        long added;
        if (weight > 0 && !isIndexed[side]) {
            added = table.append(list(entry, side), row, length, weight);
        } else {
            if (!isIndexed[side]) {
                index(side);
                before = table.size();
            }
            added = table.addRow(list(entry, side), row, length, weight);
        }
        if (hotKeys.isPresent() && table.size() > before) {
            hotKeys.get().enter(hot(entry, side), side, added);
        }
        return added;
    }

    /** Adds the rows of a batch to a side, each once, and calls back with each. */
    void addAll(int side, JoinSide reader, Batch batch, LongConsumer added) {
        int count = batch.rowCount();
        RowCodec codec = reader.codec();
        codec.encode(batch, reader.columns(), Rows.all(count), count);
        long[] entries = reader.finder().find(table, batch, Rows.all(count), count);
        for (int i = 0; i < count; i++) {
            added.accept(addRow(side, entries[i], codec.address(i), codec.length(i), 1));
        }
    }

    /** Adds to the weights of those rows of a batch that a reader split off, with keys, to a side. */
    void change(int side, JoinSide reader, Batch batch) {
        int count = reader.count(0);
        int[] chosen = reader.rows(0);
        RowCodec codec = reader.codec();
        codec.encode(batch, reader.columns(), chosen, count);
        long[] entries = reader.finder().find(table, batch, chosen, count);
        for (int i = 0; i < count; i++) {
            addRow(side, entries[i], codec.address(i), codec.length(i), reader.weight(batch, chosen[i]));
        }
        removeEmpty(entries, count);
    }

    private void index(int side) {
        isIndexed[side] = true;
        EntryCursor cursor = new EntryCursor(table, 1024);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                rows.get(side).index(list(cursor.entries()[i], side));
            }
        }
    }

    /** The list of a side in an entry. */
    long list(long entry, int side) {
        return entry + keys.end() + (long) side * RowTable.LIST_BYTES;
    }

    private boolean isEmpty(long entry) {
        for (int side = 0; side < rows.size(); side++) {
            if (RowTable.first(list(entry, side)) != 0) {
                return false;
            }
        }
        return true;
    }

    /** Rows of some keys are about to change, to come or to go; or what they matched. */
    void changing(long[] entries, int count) {
        if (changes.isPresent()) {
            for (int i = 0; i < count; i++) {
                changes.get().beforeChange(entries[i]);
            }
        }
    }

    private void changing(long entry) {
        if (changes.isPresent()) {
            changes.get().beforeChange(entry);
        }
    }

    private void remove(long entry) {
        if (changes.isPresent()) {
            changes.get().gone(entry);
        }
        keys.free(entry, table.memory());
        table.remove(entry);
    }

    /** Removes an entry all of whose lists are empty. */
    void removeIfEmpty(long entry) {
        if (isEmpty(entry)) {
            remove(entry);
        }
    }

    /** The same for several, some of which may come several times; what is in the array is gone after. */
    void removeEmpty(long[] entries, int count) {
        int empty = 0;
        for (int i = 0; i < count; i++) {
            long entry = entries[i];
            if (isEmpty(entry) && Memory.getLong(entry + GroupTable.LINK) == 0) {
                Memory.putLong(entry + GroupTable.LINK, 1);
                entries[empty++] = entry;
            }
        }
        for (int i = 0; i < empty; i++) {
            remove(entries[i]);
        }
    }

    /**
     * Drops the rows of a side whose window ended; entries left empty go, too.
     *
     * @param slot of the window's end in a row
     */
    void expire(int side, int slot, long watermark) {
        EntryCursor cursor = new EntryCursor(table, Math.max(1, table.size()));
        int count = cursor.advance();
        for (int i = 0; i < count; i++) {
            long entry = cursor.entries()[i];
            for (long row = RowTable.first(list(entry, side)); row != 0; ) {
                long next = RowTable.next(row);
                if (Memory.getLong(row + slot) <= watermark) {
                    changing(entry);
                    rows.get(side).removeRow(row);
                }
                row = next;
            }
            removeIfEmpty(entry);
        }
    }

    /** Calls back with each row of a side. */
    void forEach(int side, LongConsumer consumer) {
        EntryCursor cursor = new EntryCursor(table, Math.max(1, table.size()));
        int count = cursor.advance();
        for (int i = 0; i < count; i++) {
            for (long row = RowTable.first(list(cursor.entries()[i], side)); row != 0; row = RowTable.next(row)) {
                consumer.accept(row);
            }
        }
    }

    /** Removes a row, and its entry if that was its last. */
    void drop(int side, long row) {
        long entry = entry(side, RowTable.list(row));
        changing(entry);
        rows.get(side).removeRow(row);
        removeIfEmpty(entry);
    }

    long bytes() {
        return table.bytes()
                + rows.stream().mapToLong(RowTable::bytes).sum()
                + hotKeys.map(HotKeys::bytes).orElse(0L)
                + changes.map(ChangedEntries::bytes).orElse(0L);
    }

    long size() {
        return rows.stream().mapToLong(RowTable::size).sum();
    }

    void clear() {
        table.clear();
        rows.forEach(RowTable::clear);
        hotKeys.ifPresent(HotKeys::clear);
        Arrays.fill(isIndexed, false);
    }

    // ---- snapshots

    /** Writes an entry: its keys and its rows, left and right. */
    void write(long entry, DataOutput out) throws IOException {
        writeRows(entry, out);
    }

    private int writeRows(long entry, DataOutput out) throws IOException {
        keys.write(entry, out);
        int all = 0;
        for (int side = 0; side < rows.size(); side++) {
            int count = rows.get(side).writeList(list(entry, side), out);
            mostOfKey = Math.max(mostOfKey, count);
            all += count;
        }
        return all;
    }

    /** Adds a number of entries that {@link #write} wrote, and calls back with each one. */
    void read(DataInput in, LongConsumer entries) throws IOException {
        GroupTable.Filling read = table.fill(in);
        for (int left = in.readInt(); left > 0; left--) {
            long entry = keys.readNew(table, in);
            read.add(entry);
            readRows(entry, in);
            entries.accept(entry);
        }
        read.end();
    }

    private void readRows(long entry, DataInput in) throws IOException {
        for (int side = 0; side < rows.size(); side++) {
            readRows(entry, side, in);
        }
    }

    /** Adds the rows of a side to an entry that has none of it. */
    void readRows(long entry, int side, DataInput in) throws IOException {
        rows.get(side).readList(list(entry, side), in, false);
        if (hotKeys.isPresent()) {
            hotKeys.get().enterAll(hot(entry, side), list(entry, side));
        }
    }

    /** Makes of a state what it was when {@link #freeze} wrote what had changed. */
    void readChanges(DataInput in) throws IOException {
        boolean areGone = FrozenChanges.readKind(in) == FrozenChanges.GONE;
        for (int left = SectionInput.readLength(in); left > 0; left--) {
            long made = keys.readNew(table, in);
            long before = keys.find(table, Memory.getLong(made), made);
            if (before >= 0) {
                for (int side = 0; side < rows.size(); side++) {
                    rows.get(side).clear(list(before, side));
                }
                remove(before);
            }
            if (areGone) {
                keys.free(made, table.memory());
                table.discard(made);
            } else {
                table.put(made);
                readRows(made, in);
            }
        }
    }

    // ---- frozen

    /**
     * Forgets how many rows keys have, which is found out as they are written: all of them follow.
     */
    void writesAll() {
        mostOfKey = 0;
    }

    /** The rows as they are now, or those of keys of which any changed; empty if keys have more rows than are worth writing at once. */
    Optional<FrozenState> freeze(Parts ofAll, Parts since, Kept kept) {
        if (changes.isEmpty()) {
            changes = Optional.of(new ChangedEntries(table, keys::write, allocator));
            mostOfKey = size() > MOST_OF_KEY ? mostOfKey() : 0;
        }
        ChangedEntries noted = changes.get();
        if (mostOfKey > MOST_OF_KEY || size() > (long) MOST_ON_AVERAGE * table.size()) {
            noted.lost();
            return Optional.empty();
        }
        boolean isEnough = noted.freeze(kept, size(), () -> rowsOfChanges);
        rowsOfChanges = 0;
        if (isEnough) {
            return Optional.of(noted.freezeChanges(
                    since, (entry, out) -> rowsOfChanges += writeRows(entry, out), entry -> !isEmpty(entry)));
        }
        FrozenEntries all = new FrozenEntries(table, ofAll, entry -> entry, this::write, entry -> !isEmpty(entry));
        noted.watch(all);
        return Optional.of(all);
    }

    private long mostOfKey() {
        long most = 0;
        EntryCursor cursor = new EntryCursor(table, 1024);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                for (int side = 0; side < rows.size(); side++) {
                    most = Math.max(most, RowTable.count(list(cursor.entries()[i], side)));
                }
            }
        }
        return most;
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(rows);
        changes.ifPresent(all::add);
        all.add(table);
        hotKeys.ifPresent(all::add);
        Closing.all(all);
    }
}
