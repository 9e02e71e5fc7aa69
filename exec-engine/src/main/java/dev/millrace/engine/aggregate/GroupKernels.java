package dev.millrace.engine.aggregate;

import static dev.millrace.plan.node.AggregateState.NONE;

import dev.millrace.batch.Batch;
import dev.millrace.engine.aggregate.AggregateLayout.DistinctSet;
import dev.millrace.engine.aggregate.AggregateLayout.StateSlot;
import dev.millrace.engine.aggregate.KernelWriter.Entries;
import dev.millrace.engine.aggregate.KernelWriter.Variant;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** The generated code of a layout: made per variant when a batch first asks for it, shared by the tables of all slices. */
public final class GroupKernels {
    /** States that one loop updates: the JIT refuses methods of more than 8000 bytes of code. */
    private static final int MOST_UPDATES = 24;

    /** The loops over a batch: the first finds groups and updates states, {@code more} update further ones. */
    record Loops(GroupKernel first, List<GroupKernel> more, List<ValueKernel> distinct) {}

    private final AggregateLayout layout;
    private final Schema input;
    private final int mergedFrom;
    private final boolean logged;
    private final boolean given;
    private final boolean feeds; // distinct values feed states
    private final int[] nullable;
    private final Map<Variant, Loops> loops = new HashMap<>();

    private GroupKernels(
            AggregateLayout layout, Schema input, int mergedFrom, boolean logged, boolean given, boolean feeds) {
        this.layout = layout;
        this.input = input;
        this.mergedFrom = mergedFrom;
        this.logged = logged;
        this.given = given;
        this.feeds = feeds;
        this.nullable = nullableColumns();
    }

    /** Code that adds rows; {@code logged}: to a log of changes, too. */
    public static GroupKernels adding(AggregateLayout layout, Schema input, boolean logged) {
        return new GroupKernels(layout, input, NONE, logged, false, true);
    }

    /** Code that adds rows; their distinct values feed no states, which are somebody else's. */
    public static GroupKernels addingWithValues(AggregateLayout layout, Schema input) {
        return new GroupKernels(layout, input, NONE, false, false, false);
    }

    /** Code that adds rows to groups that the caller found, see {@link GroupState#addTo}. */
    public static GroupKernels addingToGiven(AggregateLayout layout, Schema input) {
        return new GroupKernels(layout, input, NONE, false, true, true);
    }

    /** Code that merges the states of a partial phase into groups that the caller found, see {@link GroupState#addTo}. */
    public static GroupKernels mergingIntoGiven(AggregateLayout layout, Schema input, int firstState) {
        return new GroupKernels(layout, input, firstState, false, true, true);
    }

    /** Code that merges the states that a partial phase emitted, as columns from {@code firstState} on. */
    public static GroupKernels merging(AggregateLayout layout, Schema input, int firstState, boolean logged) {
        return new GroupKernels(layout, input, firstState, logged, false, true);
    }

    private int[] nullableColumns() {
        TreeSet<Integer> columns = new TreeSet<>();
        layout.keys().keys().forEach(key -> columns.add(key.column()));
        if (mergedFrom == NONE) {
            for (StateSlot slot : layout.states()) {
                columns.add(slot.state().argument());
                columns.add(slot.state().filter());
            }
        }
        return columns.stream()
                .filter(column -> column != NONE && input.field(column).nullable())
                .mapToInt(Integer::intValue)
                .toArray();
    }

    public AggregateLayout layout() {
        return layout;
    }

    Loops loops(Batch batch) {
        boolean nulls = false;
        for (int column : nullable) {
            nulls |= batch.hasNulls(column);
        }
        return loops.computeIfAbsent(new Variant(nulls, batch.weights().isPresent()), this::generate);
    }

    private Loops generate(Variant variant) {
        List<GroupKernel> kernels = groupWriters(variant).stream()
                .map(writer -> writer.compile(GroupKernel.class))
                .toList();
        List<ValueKernel> distinct = valueWriters(variant).stream()
                .map(writer -> writer.compile(ValueKernel.class))
                .toList();
        return new Loops(kernels.get(0), kernels.subList(1, kernels.size()), distinct);
    }

    /** The loops over groups. */
    private List<KernelWriter> groupWriters(Variant variant) {
        List<StateSlot> updates = new ArrayList<>(layout.states());
        updates.removeIf(slot -> slot.state().distinct());
        boolean remembered = updates.size() > MOST_UPDATES
                || !layout.distinctSets().isEmpty()
                || !layout.collections().isEmpty();
        List<KernelWriter> writers = new ArrayList<>();
        int column = mergedFrom;
        for (int from = 0; from < updates.size(); from += MOST_UPDATES) {
            List<StateSlot> part = updates.subList(from, Math.min(updates.size(), from + MOST_UPDATES));
            boolean isFirst = from == 0;
            Entries entries =
                    !isFirst || given ? Entries.GIVEN : remembered ? Entries.BY_KEY_REMEMBERED : Entries.BY_KEY;
            writers.add(KernelWriter.groups(input, layout.keys(), part, column, entries, isFirst && logged, variant));
            if (column != NONE) {
                column += part.stream()
                        .mapToInt(slot -> StateCode.columns(slot.state().kind()))
                        .sum();
            }
        }
        return writers;
    }

    /** The loops over distinct values. */
    private List<KernelWriter> valueWriters(Variant variant) {
        List<KernelWriter> writers = new ArrayList<>();
        List<StateSlot> fed = feeds ? layout.states() : List.of();
        int merged = mergedFrom + layout.stateColumns();
        for (DistinctSet set : layout.distinctSets()) {
            int column = mergedFrom == NONE ? NONE : merged + 2 * writers.size();
            writers.add(KernelWriter.distinct(input, set, fed, column, variant));
        }
        return writers;
    }
}
