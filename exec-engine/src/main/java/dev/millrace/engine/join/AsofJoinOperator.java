package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Owned;
import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.checkpoint.SectionOutput;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.JoinTime.Nearest;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Joins each left row with the right row nearest in time ({@link Nearest}). Per key both sides are kept in the order of
 * time; at the end of an epoch those left rows are looked at again that its changes may concern, from the first changed
 * time to the next right row behind the last one, and what changed is emitted.
 *
 * <p>A settled join waits instead until the watermark is past a left row, emits it once and forgets it, and of the right
 * rows behind the watermark it keeps the last per key. Rows behind the watermark are late. Right rows may be versions of a
 * table's, of which one can say that there is none from its time on: behind the watermark it is not kept.
 */
public final class AsofJoinOperator implements Operator {
    private static final int ID = 0; // of a key, in its entry behind the key
    private static final int DUE_SHIFT = 20; // keys are due by the second, about
    private static final long KEY_BYTES = 200; // of the objects of a key

    /** One key: its rows of both sides, left and right. */
    private static final class Key {
        private final long entry;
        private final AsofRows[] sides;
        private boolean touched;
        private boolean removed;
        private long lastDue = Long.MIN_VALUE;

        Key(long entry, boolean versions) {
            this.entry = entry;
            this.sides = new AsofRows[] {new AsofRows(false), new AsofRows(versions)};
        }
    }

    private final Join node;
    private final Nearest nearest;
    private final boolean isLeft;
    private final Owned owned = new Owned();
    private final List<Optional<Key>> byId = new ArrayList<>();
    private final List<Integer> freeIds = new ArrayList<>();
    private final List<Key> touched = new ArrayList<>();
    private final TreeMap<Long, Set<Key>> due = new TreeMap<>(); // settled: keys by the times of their rows
    private OperatorContext context;
    private KeyLayout keys;
    private GroupTable table;
    private StateMemory memory;
    private List<JoinSide> sides;
    private JoinOutput joined;
    private long nullRow;
    private int versionSlot;
    private long watermark = NO_WATERMARK;
    private long rowCount;

    public AsofJoinOperator(Join node) {
        if (node.kind() != JoinKind.INNER && node.kind() != JoinKind.LEFT
                || node.residual().isPresent()) {
            throw new IllegalArgumentException("not an ASOF join: " + node.kind());
        }
        this.node = node;
        this.nearest = (Nearest) node.time().orElseThrow();
        this.isLeft = node.kind() == JoinKind.LEFT;
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        keys = new KeyLayout(JoinSide.notNull(node.left().schema()), node.leftKeys());
        table = owned.own(new GroupTable(context.allocator(), new long[(keys.end() - GroupTable.BODY) / 8 + 1]));
        memory = owned.own(new StateMemory(context.allocator()));
        sides = List.of(
                owned.own(new JoinSide(node.left().schema(), keys, node.leftKeys(), context.allocator())),
                owned.own(new JoinSide(
                        node.right().schema(), keys.over(node.rightKeys()), node.rightKeys(), context.allocator())));
        versionSlot = nearest.version().isPresent()
                ? sides.get(1).codec().slot(nearest.version().getAsInt())
                : 0;
        nullRow = memory.allocate(sides.get(1).codec().fixedBytes());
        sides.get(1).codec().writeNulls(nullRow);
        joined = new JoinOutput(
                node.schema(),
                sides.get(0).codec(),
                sides.get(1).codec(),
                true,
                context.batchRows(),
                context.allocator());
    }

    /** A time so that right rows that may match are before the left row's. */
    private long ordered(long row, int slot) {
        long time = Memory.getLong(row + slot);
        return nearest.later() ? ~time : time;
    }

    private int timeColumn(int port) {
        return port == 0 ? nearest.left() : nearest.right();
    }

    // ---- rows

    @Override
    public void process(int port, Batch batch, Output output) {
        JoinSide side = sides.get(port);
        int time = timeColumn(port);
        try (batch) {
            boolean lateness = nearest.settled() && watermark != NO_WATERMARK;
            side.split(
                    batch,
                    nearest.settled() ? Optional.of(time) : Optional.empty(),
                    false,
                    lateness ? watermark - 1 : NO_WATERMARK);
            if (side.lateCount() > 0) {
                context.metrics().addLateRows(side.lateCount());
                context.lateRows(batch, side.late(), side.lateCount(), watermark);
            }
            if (port == 0 && isLeft) {
                emitAlone(batch, side.nulls(), side.nullCount(), output);
            }
            for (int group = 0; group < side.groups(); group++) {
                add(port, batch, side.rows(group), side.count(group), output);
            }
        }
    }

    private void emitAlone(Batch batch, int[] rows, int count, Output output) {
        JoinSide left = sides.get(0);
        left.codec().encode(batch, left.columns(), rows, count);
        for (int i = 0; i < count; i++) {
            joined.add(left.codec().address(i), nullRow, left.weight(batch, rows[i]), output);
        }
        joined.flush(output);
    }

    private void add(int port, Batch batch, int[] rows, int count, Output output) {
        JoinSide side = sides.get(port);
        long validity = batch.validityAddress(timeColumn(port));
        int[] timed = new int[count];
        int[] untimed = new int[count];
        int timedCount = 0;
        int untimedCount = 0;
        for (int i = 0; i < count; i++) {
            if (validity == 0 || Memory.getBit(validity, rows[i])) {
                timed[timedCount++] = rows[i];
            } else {
                untimed[untimedCount++] = rows[i]; // nothing is nearest to NULL
            }
        }
        if (port == 0 && isLeft && untimedCount > 0) {
            emitAlone(batch, untimed, untimedCount, output);
        }
        RowCodec codec = side.codec();
        codec.encode(batch, side.columns(), timed, timedCount);
        int slot = codec.slot(timeColumn(port));
        long[] entries = side.finder().find(table, batch, timed, timedCount);
        for (int i = 0; i < timedCount; i++) {
            Key key = key(entries[i]);
            long address = codec.address(i);
            add(key, port, ordered(address, slot), address, codec.length(i), side.weight(batch, timed[i]));
        }
    }

    private void add(Key key, int port, long time, long bytes, int length, long weight) {
        long row = AsofRows.create(memory, time, bytes, length, weight);
        if (port == 1 && nearest.version().isPresent()) {
            AsofRows.setVersion(row, Memory.getLong(bytes + versionSlot));
        }
        key.sides[port].add(row);
        rowCount++;
        touch(key);
        if (nearest.settled()) {
            makeDue(key, time >> DUE_SHIFT);
        }
    }

    private void makeDue(Key key, long second) {
        if (key.lastDue != second) {
            key.lastDue = second;
            due.computeIfAbsent(second, any -> new LinkedHashSet<>()).add(key);
        }
    }

    private Key key(long entry) {
        long word = entry + keys.end();
        long id = Memory.getLong(word + ID);
        if (id == 0) {
            if (freeIds.isEmpty()) {
                byId.add(Optional.empty());
                id = byId.size();
            } else {
                id = freeIds.remove(freeIds.size() - 1);
            }
            byId.set((int) id - 1, Optional.of(new Key(entry, nearest.version().isPresent())));
            Memory.putLong(word + ID, id);
        }
        return byId.get((int) id - 1).orElseThrow();
    }

    private void touch(Key key) {
        if (!key.touched) {
            key.touched = true;
            touched.add(key);
        }
    }

    private void removeIfEmpty(Key key) {
        if (!key.removed
                && key.sides[0].count() == 0
                && key.sides[1].count() == 0
                && !key.sides[0].hasPending()
                && !key.sides[1].hasPending()) {
            key.removed = true;
            int id = (int) Memory.getLong(key.entry + keys.end() + ID);
            byId.set(id - 1, Optional.empty());
            freeIds.add(id);
            keys.free(key.entry, table.memory());
            table.remove(key.entry);
        }
    }

    // ---- answers

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        for (Key key : touched) {
            key.touched = false;
            if (nearest.settled()) {
                merge(key);
            } else {
                update(key, output);
            }
        }
        touched.clear();
        reportSize();
        return true;
    }

    /** Merges the changes of both sides in, where rows may become one. */
    private void merge(Key key) {
        for (AsofRows side : key.sides) {
            rowCount -= side.held();
            side.merge(memory);
            rowCount += side.held();
        }
    }

    /** Forgets the rows of a side that were taken back. */
    private void sweep(AsofRows side) {
        rowCount -= side.held();
        side.sweep(memory);
        rowCount += side.held();
    }

    private void update(Key key, Output output) {
        AsofRows left = key.sides[0];
        AsofRows right = key.sides[1];
        long from = Math.min(left.leastPending(), right.leastPending());
        long lastLeft = left.greatestPending();
        long lastRight = right.greatestPending();
        merge(key);
        int next = right.countBefore(lastRight, true);
        long to = lastRight == Long.MIN_VALUE
                ? lastLeft
                : Math.max(lastLeft, next < right.count() ? AsofRows.time(right.row(next)) : Long.MAX_VALUE);
        int end = left.countBefore(to, true);
        boolean gone = false;
        for (int i = left.countBefore(from, false); i < end; i++) {
            long row = left.row(i);
            long weight = AsofRows.weight(row);
            long match = weight == 0 ? 0 : nearest(row, right);
            long oldMatch = AsofRows.match(row);
            long oldWeight = AsofRows.emittedWeight(row);
            gone |= weight == 0;
            if (match == oldMatch) {
                emit(row, match, weight - oldWeight, output);
            } else {
                emit(row, oldMatch, -oldWeight, output);
                emit(row, match, weight, output);
            }
            AsofRows.setEmitted(row, match, weight);
        }
        joined.flush(output);
        if (gone) {
            sweep(left);
        }
        sweep(right);
        removeIfEmpty(key);
    }

    /** The last living right row before a left one, or 0. */
    private long nearest(long row, AsofRows right) {
        int at = right.countBefore(AsofRows.time(row), nearest.orEqual()) - 1;
        while (at >= 0 && AsofRows.weight(right.row(at)) <= 0) {
            at--;
        }
        return at < 0 ? 0 : right.row(at);
    }

    private void emit(long row, long match, long weight, Output output) {
        if (weight != 0 && (match != 0 || isLeft)) {
            joined.add(row + AsofRows.BYTES, match == 0 ? nullRow : match + AsofRows.BYTES, weight, output);
        }
    }

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        watermark = Math.max(watermark, watermarkMicros); // one that was restored may be ahead of the input
        if (!nearest.settled()) {
            return watermarkMicros != END_OF_INPUT || onEpochEnd(-1, output);
        }
        Set<Key> again = new LinkedHashSet<>(); // a key is due at several times
        boolean all = true;
        while (all && !due.isEmpty() && due.firstKey() << DUE_SHIFT < watermarkMicros) {
            for (Key key : due.pollFirstEntry().getValue()) {
                key.lastDue = Long.MIN_VALUE;
                settle(key, watermarkMicros, output);
                if (key.sides[0].count() > 0 || key.sides[1].count() > (isEnded(key) ? 0 : 1)) {
                    again.add(key);
                }
                removeIfEmpty(key);
            }
            all = !output.isFull();
        }
        for (Key key : again) {
            AsofRows waiting = key.sides[0].count() > 0 ? key.sides[0] : key.sides[1];
            makeDue(key, AsofRows.time(waiting.row(waiting.count() - 1)) >> DUE_SHIFT);
            makeDue(key, Math.max(AsofRows.time(waiting.row(0)), watermarkMicros) >> DUE_SHIFT);
        }
        if (!all) {
            return false;
        }
        reportSize();
        return true;
    }

    /** Whether the last version says that there is no row. */
    private boolean isEnded(Key key) {
        AsofRows right = key.sides[1];
        return nearest.version().isPresent() && right.count() > 0 && AsofRows.isEnd(right.row(right.count() - 1));
    }

    private void settle(Key key, long before, Output output) {
        AsofRows left = key.sides[0];
        AsofRows right = key.sides[1];
        merge(key);
        int certain = before == END_OF_INPUT ? left.count() : left.countBefore(before, false);
        for (int i = 0; i < certain; i++) {
            long row = left.row(i);
            long match = nearest(row, right);
            boolean ended = match != 0 && nearest.version().isPresent() && AsofRows.isEnd(match);
            emit(row, ended ? 0 : match, AsofRows.weight(row), output);
        }
        joined.flush(output);
        left.removeFirst(certain, memory);
        int passed = right.countBefore(before, false);
        boolean gone = passed > 0 && nearest.version().isPresent() && AsofRows.isEnd(right.row(passed - 1));
        int old = gone ? passed : Math.max(0, passed - 1);
        right.removeFirst(old, memory);
        rowCount -= certain + old;
    }

    private void reportSize() {
        long objects = 16 * rowCount + KEY_BYTES * (byId.size() - freeIds.size());
        context.metrics().stateSize(table.bytes() + memory.bytes() + objects, rowCount);
    }

    // ---- snapshots

    /** Per key group the number of keys, and of each the key and its rows, left and right. */
    @Override
    public void snapshot(StateWriter writer) throws IOException {
        writer.keyGroup(StateFormats.NEAREST_JOIN, -1).writeLong(watermark);
        KeyGroupPart.of(table, (entry, out) -> {
                    keys.write(entry, out);
                    Key key = key(entry);
                    write(key.sides[0], out);
                    write(key.sides[1], out);
                })
                .write(writer, StateFormats.NEAREST_JOIN);
    }

    private static void write(AsofRows rows, DataOutput out) throws IOException {
        out.writeInt(rows.count());
        for (int i = 0; i < rows.count(); i++) {
            long row = rows.row(i);
            out.writeLong(AsofRows.time(row));
            out.writeLong(AsofRows.weight(row));
            SectionOutput.writeBytes(row + AsofRows.BYTES, AsofRows.length(row), out);
        }
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(StateFormats.NEAREST_JOIN, (in, group) -> {
            if (group == -1) {
                watermark = Math.max(watermark, in.readLong());
            } else {
                read(in);
            }
        });
        for (Key key : touched) {
            key.touched = false;
            merge(key);
            if (!nearest.settled()) { // what was emitted before follows from the rows
                key.sides[0].forEach(row -> AsofRows.setEmitted(row, nearest(row, key.sides[1]), AsofRows.weight(row)));
            }
        }
        touched.clear();
    }

    private void read(DataInput in) throws IOException {
        try (StateMemory scratch = new StateMemory(context.allocator())) {
            for (int count = in.readInt(); count > 0; count--) {
                Key key = key(keys.read(table, in));
                for (int side = 0; side < 2; side++) {
                    for (int left = in.readInt(); left > 0; left--) {
                        long time = in.readLong();
                        long weight = in.readLong();
                        int length = SectionInput.readLength(in);
                        long copy = scratch.allocate(length);
                        SectionInput.readBytes(in, copy, length);
                        add(key, side, time, copy, length, weight);
                        scratch.free(copy, length);
                    }
                }
            }
        }
    }

    @Override
    public void close() {
        byId.clear();
        due.clear();
        touched.clear();
        owned.close();
    }
}
