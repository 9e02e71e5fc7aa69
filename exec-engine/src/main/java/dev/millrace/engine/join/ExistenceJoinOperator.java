package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Owned;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowTable;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.Replay;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A SEMI or ANTI join on keys alone: all that matters of a key's right rows is whether their weights sum to zero, so the sum
 * is what is kept of them. Neither side's row looks at another row, however many a key has; only when a key's right rows
 * begin or cease to be there over an epoch are its left rows gone through, all of which change then.
 *
 * <pre>
 *   entry: hash | link | keys | list of left rows | weight of right rows | UNTOUCHED or how the last epoch left the key
 * </pre>
 */
public final class ExistenceJoinOperator implements Replay {
    private static final int UNTOUCHED = 0;
    private static final int WAS_ABSENT = 1;
    private static final int WAS_PRESENT = 2;

    private final Join node;
    private final boolean isSemi;
    private final Owned owned = new Owned();
    private OperatorContext context;
    private KeyLayout keys;
    private GroupTable table;
    private RowTable rows; // left
    private boolean isIndexed; // whether rows are found by their bytes: since the first was taken back
    private List<JoinSide> sides;
    private JoinOutput output;
    private long[] touched = new long[64]; // entries whose right rows changed in this epoch
    private int touchedCount;
    private int next; // of the touched, while emitting
    private long visited;

    public ExistenceJoinOperator(Join node) {
        this.node = node;
        this.isSemi = node.kind() == JoinKind.SEMI;
    }

    /** Whether this operator does for a node. */
    public static boolean suits(Join node) {
        return (node.kind() == JoinKind.SEMI || node.kind() == JoinKind.ANTI)
                && node.time().isEmpty()
                && node.residual().isEmpty();
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        BufferAllocator allocator = context.allocator();
        keys = new KeyLayout(JoinSide.notNull(node.left().schema()), node.leftKeys());
        sides = List.of(
                owned.own(new JoinSide(node.left().schema(), keys, node.leftKeys(), allocator)),
                owned.own(
                        new JoinSide(node.right().schema(), keys.over(node.rightKeys()), node.rightKeys(), allocator)));
        table = owned.own(new GroupTable(
                allocator, new long[(keys.end() - GroupTable.BODY + RowTable.LIST_BYTES + 16) / Long.BYTES]));
        rows = owned.own(new RowTable(allocator));
        output = new JoinOutput(
                node.schema(), sides.get(0).codec(), sides.get(1).codec(), false, context.batchRows(), allocator);
    }

    private long list(long entry) {
        return entry + keys.end();
    }

    private long weightAt(long entry) {
        return entry + keys.end() + RowTable.LIST_BYTES;
    }

    private long markAt(long entry) {
        return weightAt(entry) + 8;
    }

    /** Whether the key's left rows are shown, as the last epoch left it. */
    private boolean isShown(long entry) {
        long mark = Memory.getLong(markAt(entry));
        boolean present = mark == UNTOUCHED ? Memory.getLong(weightAt(entry)) != 0 : mark == WAS_PRESENT;
        return present == isSemi;
    }

    /** Left rows looked at so far other than by their bytes. */
    long visited() {
        return visited;
    }

    // ---- rows

    @Override
    public void process(int port, Batch batch, Output out) {
        JoinSide side = sides.get(port);
        try (batch) {
            side.split(batch, Optional.empty(), false, NO_WATERMARK);
            if (port == 0 && !isSemi && side.nullCount() > 0) { // who equals nothing has no partner
                side.codec().encode(batch, side.columns(), side.nulls(), side.nullCount());
                for (int i = 0; i < side.nullCount(); i++) {
                    output.add(side.codec().address(i), 0, side.weight(batch, side.nulls()[i]), out);
                }
                output.flush(out);
            }
            if (side.groups() == 0) {
                return;
            }
            int count = side.count(0);
            long[] entries = side.finder().find(table, batch, side.rows(0), count);
            if (port == 0) {
                addLeft(batch, side, entries, count, out);
            } else {
                addRight(batch, side, entries, count);
            }
        }
    }

    private void addLeft(Batch batch, JoinSide side, long[] entries, int count, Output out) {
        RowCodec codec = side.codec();
        codec.encode(batch, side.columns(), side.rows(0), count);
        for (int i = 0; i < count; i++) {
            long weight = side.weight(batch, side.rows(0)[i]);
            if (isShown(entries[i])) {
                output.add(codec.address(i), 0, weight, out);
            }
            if (weight < 0 && !isIndexed) {
                index();
            }
            if (isIndexed) {
                rows.addRow(list(entries[i]), codec.address(i), codec.length(i), weight);
            } else {
                rows.append(list(entries[i]), codec.address(i), codec.length(i), weight);
            }
        }
        output.flush(out);
        removeEmpty(entries, count);
    }

    private void index() {
        isIndexed = true;
        EntryCursor cursor = new EntryCursor(table, 1024);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                rows.index(list(cursor.entries()[i]));
            }
        }
    }

    private void addRight(Batch batch, JoinSide side, long[] entries, int count) {
        for (int i = 0; i < count; i++) {
            long entry = entries[i];
            long weight = Memory.getLong(weightAt(entry));
            if (Memory.getLong(markAt(entry)) == UNTOUCHED) {
                touch(entry, weight != 0);
            }
            Memory.putLong(weightAt(entry), weight + side.weight(batch, side.rows(0)[i]));
        }
    }

    private void touch(long entry, boolean wasPresent) {
        Memory.putLong(markAt(entry), wasPresent ? WAS_PRESENT : WAS_ABSENT);
        if (touchedCount == touched.length) {
            touched = Arrays.copyOf(touched, 2 * touchedCount);
        }
        touched[touchedCount++] = entry;
    }

    /** As if no row had been shown so far. */
    @Override
    public void replay() {
        EntryCursor cursor = new EntryCursor(table, 1024);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                touch(cursor.entries()[i], !isSemi);
            }
        }
    }

    private boolean isEmpty(long entry) {
        return RowTable.first(list(entry)) == 0
                && Memory.getLong(weightAt(entry)) == 0
                && Memory.getLong(markAt(entry)) == UNTOUCHED;
    }

    private void remove(long entry) {
        keys.free(entry, table.memory());
        table.remove(entry);
    }

    /** Removes those entries that nothing is known of, some of which may come several times; what is in the array is gone after. */
    private void removeEmpty(long[] entries, int count) {
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

    // ---- changes

    @Override
    public boolean onEpochEnd(long epoch, Output out) {
        Interrupt interrupt = Interrupt.current();
        while (next < touchedCount) {
            interrupt.check();
            if (out.isFull()) {
                return false;
            }
            long entry = touched[next++];
            boolean wasShown = isShown(entry);
            Memory.putLong(markAt(entry), UNTOUCHED);
            if (wasShown != isShown(entry)) {
                for (long row = RowTable.first(list(entry)); row != 0; row = RowTable.next(row)) {
                    output.add(row, 0, wasShown ? -RowTable.weight(row) : RowTable.weight(row), out);
                    visited++;
                }
                output.flush(out);
            }
            if (isEmpty(entry)) {
                remove(entry);
            }
        }
        next = 0;
        touchedCount = 0;
        reportSize();
        return true;
    }

    private void reportSize() {
        context.metrics().stateSize(table.bytes() + rows.bytes(), rows.size() + (long) table.size());
    }

    // ---- snapshots

    /** Per key group: the number of entries, then each one's keys, right weight and left rows. */
    @Override
    public void snapshot(StateWriter writer) throws IOException {
        KeyGroupPart.of(table, (entry, out) -> {
                    keys.write(entry, out);
                    out.writeLong(Memory.getLong(weightAt(entry)));
                    rows.writeList(list(entry), out);
                })
                .write(writer, StateFormats.EXISTENCE);
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(StateFormats.EXISTENCE, (in, group) -> {
            for (int left = in.readInt(); left > 0; left--) {
                long entry = keys.read(table, in);
                Memory.putLong(weightAt(entry), in.readLong());
                rows.readList(list(entry), in, false);
            }
        });
        reportSize();
    }

    @Override
    public void close() {
        owned.close();
    }
}
