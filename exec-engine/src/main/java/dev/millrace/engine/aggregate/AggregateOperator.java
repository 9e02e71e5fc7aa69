package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.batch.Owned;
import dev.millrace.engine.aggregate.number.Wide;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.Forgetful;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupPart.EntryWriter;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.Rows;
import dev.millrace.engine.state.frozen.ChangedEntries;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Freezing;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.Replay;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PartialSchemas;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.type.Schema;
import java.io.DataInput;
import java.io.IOException;
import java.util.Optional;

/**
 * Updating aggregation: keeps every group and emits, at the end of an epoch, the changes of the groups it touched. The
 * FINAL phase does the same over states instead of rows.
 */
public final class AggregateOperator implements Replay, Forgetful, Freezing {

    private final Aggregate node;
    private final Owned owned = new Owned();
    private OperatorContext context;
    private NestedImages images;
    private GroupState state;
    private ChangeLog log;
    private ChangeEmitter emitter;
    private Optional<ChangedEntries> changes = Optional.empty(); // once state was frozen
    private final boolean keyless;
    private boolean hasOnlyGroup; // keyless: the group was emitted
    private int next; // of the log, while emitting

    public AggregateOperator(Aggregate node) {
        if (node.phase() == Phase.PARTIAL) {
            throw new IllegalArgumentException("a partial phase is a PartialAggregateOperator");
        }
        this.node = node;
        this.keyless = node.keys().isEmpty();
    }

    /** The generated code of a node. */
    private static GroupKernels kernels(Aggregate node) {
        Schema input = node.input().schema();
        AggregateLayout layout = new AggregateLayout(
                new KeyLayout(input, node.keys()),
                node.calls(),
                PartialSchemas.argumentSchema(node),
                !node.appendOnlyInput(),
                true);
        return node.phase() == Phase.FINAL
                ? GroupKernels.merging(layout, input, node.keys().size(), true)
                : GroupKernels.adding(layout, input, true);
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        GroupKernels kernels = kernels(node);
        images = owned.own(new NestedImages(context.allocator()));
        state = owned.own(new GroupState(kernels, context.allocator()));
        if (!keyless) {
            state.mayBeCold();
        }
        log = owned.own(new ChangeLog(kernels.layout(), context.allocator()));
        emitter = owned.own(new ChangeEmitter(state, log, node.schema(), context));
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            state.relieve();
            state.add(batch, images, Rows.all(batch.rowCount()), batch.rowCount(), log);
        } catch (ArithmeticException e) {
            throw Wide.outOfRange();
        } finally {
            images.clear();
        }
        reportSize();
    }

    @Override
    public void forget(long like) {
        long entry = state.layout().keys().find(state.table(), Memory.getLong(like), like);
        if (entry >= 0) {
            if (Memory.getLong(entry + GroupTable.LINK) == 0) {
                log.touch(entry);
            }
            state.reset(entry);
        }
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        if (keyless && !hasOnlyGroup && context.keyGroups().contains(0)) {
            GroupTable table = state.table();
            long only = table.size() == 0 ? table.insert(0, 0) : table.word(0) & GroupTable.ADDRESS;
            if (table.size() == 1 && log.count() == 0) {
                log.touch(only);
            }
        }
        int most = Math.max(1, context.batchRows() / 2);
        while (next < log.count()) {
            if (output.isFull()) {
                return false;
            }
            int end = Math.min(log.count(), next + most);
            emitter.emit(next, end, hasOnlyGroup, keyless, context.batchRows(), output);
            next = end;
        }
        hasOnlyGroup |= keyless && log.count() > 0;
        log.clear();
        next = 0;
        state.relieveUnlinked();
        reportSize();
        return true;
    }

    private void reportSize() {
        context.metrics().stateSize(state.bytes() + log.bytes(), state.size());
    }

    @Override
    public void snapshot(StateWriter writer) throws IOException {
        GroupSnapshot snapshot = new GroupSnapshot(state);
        if (!keyless) {
            snapshot.write(writer, StateFormats.GROUPS);
        } else if (snapshot.count(0) > 0) {
            // The one group of no keys has hash 0 in each instance, whichever key groups that one owns.
            snapshot.write(
                    0, writer.keyGroup(StateFormats.GROUPS, context.keyGroups().first()));
        }
    }

    @Override
    public Optional<FrozenState> freeze(Kept kept) {
        if (keyless) {
            return Optional.empty(); // one row; and of several instances' together become one
        }
        if (changes.isEmpty()) {
            EntryWriter keys = state.layout().keys()::write;
            ChangedEntries noted = owned.own(new ChangedEntries(state.table(), keys, context.allocator()));
            changes = Optional.of(noted);
            log.tell(noted);
            state.cold().ifPresent(cold -> cold.tell(noted));
            state.distinct().forEach(values -> noted.lookFurther(values.note(state.table(), keys)));
        }
        return Optional.of(
                state.distinct().isEmpty()
                        ? GroupSnapshot.freeze(state, changes.get(), kept)
                        : FrozenGroups.of(state, changes.get(), kept));
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(StateFormats.GROUPS, (in, group) -> {
            if (keyless && state.table().size() > 0) {
                mergeOnlyGroup(in);
            } else {
                GroupSnapshot.read(state, in);
            }
        });
        reader.keyGroups(StateFormats.GROUPS_SINCE, (in, group) -> GroupSnapshot.readChanges(state, in));
        RestoredGroups restored = new RestoredGroups(state);
        reader.keyGroups(StateFormats.DISTINCT_GROUPS, (in, group) -> restored.read(in));
        reader.keyGroups(StateFormats.DISTINCT_GROUPS_SINCE, (in, group) -> restored.read(in));
        restored.end();
        hasOnlyGroup = keyless && state.table().size() > 0;
        reportSize();
    }

    @Override
    public void replay() {
        hasOnlyGroup = false;
        if (!keyless) {
            state.fetchAll();
            int rowsOffset = state.layout().rowsOffset();
            EntryCursor groups = new EntryCursor(state.table(), 256);
            for (int count = groups.advance(); count > 0; count = groups.advance()) {
                for (int i = 0; i < count; i++) {
                    log.touchAsNew(groups.entries()[i], rowsOffset);
                }
            }
        }
    }

    private void mergeOnlyGroup(DataInput in) throws IOException {
        try (GroupState part = state.another()) {
            GroupSnapshot.read(part, in);
            state.merge(part);
        }
    }

    @Override
    public void close() {
        owned.close();
    }
}
