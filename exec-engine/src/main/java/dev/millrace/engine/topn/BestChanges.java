package dev.millrace.engine.topn;

import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.RowReader;
import dev.millrace.engine.state.frozen.ChangedEntries;
import dev.millrace.engine.state.frozen.FrozenChanges;
import dev.millrace.engine.state.frozen.FrozenEntries;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Freezing.Kept;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.TopN;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;

/**
 * What changed of the first rows of partitions in an epoch, on its way out; and those rows' way into snapshots and back.
 * A partition that changed is marked in its entry's link.
 */
final class BestChanges implements AutoCloseable {
    /** The bit of a partition's link that is set between {@link #touch} and the end of the epoch; others go with it. */
    static final int TOUCHED = 1;

    private final TopN node;
    private final StateFormat state;
    private final StateFormat since;
    private final BestOfPartitions rows;
    private final RankChanges changes;
    private final OperatorContext context;
    private long[] touched = new long[256];
    private int touchedCount;
    private int next; // of the touched, while emitting
    private Optional<ChangedEntries> sinceFrozen = Optional.empty();

    /**
     * @param state the name that the rows have in snapshots
     * @param since the one that those have that changed
     */
    BestChanges(
            TopN node,
            StateFormat state,
            StateFormat since,
            BestOfPartitions rows,
            RowReader codec,
            OperatorContext context) {
        this.node = node;
        this.state = state;
        this.since = since;
        this.rows = rows;
        this.changes = new RankChanges(node, codec, context.batchRows(), context.allocator());
        this.context = context;
    }

    /** A partition may be about to change: whether it does, {@link #touch} says. */
    void beforeChange(long partition) {
        if (sinceFrozen.isPresent()) {
            sinceFrozen.get().beforeFrozenChange(partition);
        }
    }

    /** A partition changed. */
    void touch(long partition) {
        long link = Memory.getLong(partition + GroupTable.LINK);
        if ((link & TOUCHED) == 0) {
            Memory.putLong(partition + GroupTable.LINK, link | TOUCHED);
            if (touchedCount == touched.length) {
                touched = Arrays.copyOf(touched, 2 * touchedCount);
            }
            touched[touchedCount++] = partition;
            if (sinceFrozen.isPresent()) {
                sinceFrozen.get().changed(partition);
            }
        }
    }

    /** Emits the changes; false if the output is full before all are out. */
    boolean emit(Output output) {
        while (next < touchedCount) {
            if (changes.fillBatch() && !changes.emit(output)) {
                return false;
            }
            update(touched[next++]);
        }
        if (touchedCount > 0) { // once: then they are taken back
            touchedCount = 0;
            next = 0;
            for (int i = 0; i < rows.leaving().count(); i++) {
                long place = rows.leaving().get(i);
                changes.add(rows.rowAt(place), rows.emittedAt(place), -1);
            }
        }
        if (!changes.emit(output)) {
            return false;
        }
        rows.freeLeaving();
        reportSize();
        return true;
    }

    /** Notes how the ranks of a partition's rows differ from what was emitted. */
    private void update(long partition) {
        Memory.putLong(partition + GroupTable.LINK, 0);
        rows.sort(partition);
        int count = rows.count(partition);
        for (int i = 0; i < count; i++) {
            long place = rows.place(partition, i);
            int before = rows.emittedAt(place);
            int rank = i < node.offset() ? 0 : node.emitRank() ? i + 1 : 1;
            if (before == rank) {
                continue;
            }
            if (before != 0) {
                changes.add(rows.rowAt(place), before, -1);
            }
            if (rank != 0) {
                changes.add(rows.rowAt(place), rank, 1);
            }
            rows.setEmitted(partition, i, rank);
        }
        if (count == 0) {
            if (sinceFrozen.isPresent()) {
                sinceFrozen.get().gone(partition);
            }
            rows.remove(partition);
        }
    }

    void reportSize() {
        context.metrics().stateSize(rows.bytes(), rows.size());
    }

    /** Lets all rows be emitted anew. */
    void replay() {
        EntryCursor all = new EntryCursor(rows.table(), 256);
        for (int count = all.advance(); count > 0; count = all.advance()) {
            for (int i = 0; i < count; i++) {
                long partition = all.entries()[i];
                for (int row = 0; row < rows.count(partition); row++) {
                    rows.setEmitted(partition, row, 0);
                }
                touch(partition);
            }
        }
    }

    /** Writes per key group the number of partitions, then each. */
    void snapshot(StateWriter writer) throws IOException {
        KeyGroupPart.of(rows.table(), rows::write, this::firstRow).write(writer, state);
    }

    /** See {@link dev.millrace.operator.Freezing}. */
    Optional<FrozenState> freeze(Kept kept) {
        if (sinceFrozen.isEmpty()) {
            sinceFrozen = Optional.of(new ChangedEntries(rows.table(), rows::writeKeys, context.allocator()));
        }
        ChangedEntries changed = sinceFrozen.get();
        if (changed.freeze(kept, rows.table().size())) {
            return Optional.of(changed.freezeChanges(since, rows::write, this::firstRow));
        }
        FrozenEntries all = new FrozenEntries(
                rows.table(), state, rows::write, partition -> rows.count(partition) > 0, this::firstRow);
        changed.watch(all);
        return Optional.of(all);
    }

    private long firstRow(long partition) {
        return rows.count(partition) == 0 ? 0 : rows.rowAt(rows.place(partition, 0));
    }

    void restore(StateReader reader) {
        reader.keyGroups(state, (in, group) -> {
            for (int left = in.readInt(); left > 0; left--) {
                rows.read(in);
            }
        });
        reader.keyGroups(since, (in, group) -> {
            boolean areGone = FrozenChanges.readKind(in) == FrozenChanges.GONE;
            for (int left = in.readInt(); left > 0; left--) {
                if (areGone) {
                    rows.removeWritten(in);
                } else {
                    rows.replace(in);
                }
            }
        });
        reportSize();
    }

    @Override
    public void close() {
        sinceFrozen.ifPresent(ChangedEntries::close);
    }
}
