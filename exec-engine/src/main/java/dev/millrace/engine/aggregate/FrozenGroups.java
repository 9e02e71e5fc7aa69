package dev.millrace.engine.aggregate;

import dev.millrace.batch.Closing;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.KeyGroupPart.EntryWriter;
import dev.millrace.engine.state.frozen.ChangedEntries;
import dev.millrace.engine.state.frozen.FrozenChanges;
import dev.millrace.engine.state.frozen.FrozenEntries;
import dev.millrace.engine.state.frozen.Parts;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Freezing.Kept;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Groups with distinct values as they were at one moment, or what changed of them, written while they change; values by themselves, since a
 * group may have as many as there are.
 *
 * <pre>
 *   part:   0, 1 byte: of groups | kind, 1 byte, see {@link FrozenChanges} | number, 4 bytes | as {@link GroupSnapshot} has them
 *         | n, 1 byte: of the values of distinct set n - 1 | kind, 1 byte | number, 4 bytes | as these write them
 * </pre>
 *
 * Values that may be taken back are written beside the groups, those that stay behind them: what is said of a group that is gone comes before
 * what is said of the values of one that came again. {@link RestoredGroups} reads it.
 */
final class FrozenGroups implements FrozenState {
    private final boolean isWhole;
    private final List<FrozenState> beside;
    private final List<FrozenState> behind;
    private final List<FrozenState> all;

    private FrozenGroups(boolean isWhole, List<FrozenState> beside, List<FrozenState> behind) {
        this.isWhole = isWhole;
        this.beside = beside;
        this.behind = behind;
        this.all = new ArrayList<>(beside);
        all.addAll(behind);
    }

    /** The groups of a state as they are now; {@code changes} is told of those that change, and its values note theirs. */
    static FrozenState of(GroupState state, ChangedEntries changes, Kept kept) {
        boolean isWhole = !changes.freeze(kept, state.size() + values(state));
        StateFormat format = isWhole ? StateFormats.DISTINCT_GROUPS : StateFormats.DISTINCT_GROUPS_SINCE;
        AggregateLayout layout = state.layout();
        int words = layout.initial().length;
        int[] byteSlots = GroupSnapshot.byteSlots(layout);
        EntryWriter writer = (entry, out) -> GroupSnapshot.writeGroup(state, entry, words, byteSlots, out);
        Parts parts = Parts.of(format).behind(0);
        List<FrozenState> beside = new ArrayList<>();
        if (isWhole) {
            FrozenEntries groups = new FrozenEntries(
                    state.table(),
                    parts.behind(FrozenChanges.CHANGED),
                    entry -> entry,
                    writer,
                    entry -> Memory.getLong(entry + layout.rowsOffset()) != 0);
            changes.watch(groups);
            beside.add(groups);
        } else {
            beside.add(changes.freezeChanges(parts, writer, entry -> true));
        }
        List<FrozenState> behind = new ArrayList<>();
        for (int set = 0; set < state.distinct().size(); set++) {
            DistinctValues values = state.distinct().get(set);
            (layout.retractions() ? beside : behind)
                    .add(values.freeze(isWhole, Parts.of(format).behind(1 + set)));
        }
        return new FrozenGroups(isWhole, beside, behind);
    }

    private static long values(GroupState state) {
        return state.distinct().stream().mapToLong(DistinctValues::size).sum();
    }

    @Override
    public boolean isWhole() {
        return isWhole;
    }

    @Override
    public boolean writeMore(StateWriter writer) throws IOException {
        if (!writeMore(beside, writer)) {
            return false;
        }
        return writeMore(behind, writer);
    }

    /** Of each some more, so that none of them has to write much ahead of its turn. */
    private static boolean writeMore(List<FrozenState> some, StateWriter writer) throws IOException {
        for (int i = some.size() - 1; i >= 0; i--) {
            if (some.get(i).writeMore(writer)) {
                some.remove(i);
            }
        }
        return some.isEmpty();
    }

    @Override
    public void close() {
        Closing.all(all);
    }
}
