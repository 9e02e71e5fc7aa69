package dev.millrace.engine.window;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.aggregate.AggregateLayout;
import dev.millrace.engine.aggregate.ChangeLog;
import dev.millrace.engine.aggregate.GroupKernels;
import dev.millrace.engine.aggregate.GroupSnapshot;
import dev.millrace.engine.aggregate.GroupState;
import dev.millrace.engine.aggregate.number.Wide;
import dev.millrace.engine.aggregate.partial.PartialLimit;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PartialSchemas;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.PlanNode.WindowAggregate;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.arrow.vector.FieldVector;

/**
 * Aggregates per key and slice, and puts the slices of a window together when the watermark reaches its end (Li et al.,
 * No pane, no gain, SIGMOD Record 2005). A slice is dropped with its last window.
 *
 * <p>PARTIAL emits a slice's states once the watermark passed the slice or it has many groups, and what came late for an
 * open window at the epoch's end; FINAL has slice ends as times and states as columns. With {@link WindowSpec.Attached} the start is one key
 * more.
 */
public final class SliceAggregateOperator implements Operator {
    private static final int MOST_SPARE_STATES = 4;

    private final WindowAggregate node;
    private final Slicing slicing;
    private final boolean isPartial;
    private final boolean isAttached;
    private final SliceRows rows;
    private final NavigableMap<Long, GroupState> slices = new TreeMap<>();
    private final Deque<GroupState> spare = new ArrayDeque<>();
    private final PartialLimit limit; // of PARTIAL
    private OperatorContext context;
    private Optional<GroupKernels> kernels = Optional.empty();
    private Optional<NestedImages> images = Optional.empty();
    private Optional<ChangeLog> noLog = Optional.empty();
    private long watermark = NO_WATERMARK;
    private long fired = NO_WATERMARK; // windows up to this end were emitted
    private Optional<Firing> firing = Optional.empty();

    /** A window, or for PARTIAL a slice, that is being emitted. */
    private record Firing(long end, GroupState state, boolean isScratch, EntryCursor cursor) {}

    public SliceAggregateOperator(WindowAggregate node) {
        this(node, new PartialLimit());
    }

    SliceAggregateOperator(WindowAggregate node, PartialLimit limit) {
        this.node = node;
        this.limit = limit;
        this.slicing = Slicing.of(node.window());
        this.isPartial = node.phase() == Phase.PARTIAL;
        this.isAttached = node.window() instanceof WindowSpec.Attached;
        this.rows = new SliceRows(slicing);
        if (isAttached && node.phase() != Phase.SINGLE) {
            throw new IllegalArgumentException("attached windows have one phase");
        }
    }

    /** The generated code of a node. */
    private static GroupKernels kernels(WindowAggregate node) {
        Schema input = node.input().schema();
        List<Integer> keys = new ArrayList<>(node.keys());
        if (node.window() instanceof WindowSpec.Attached attached) {
            keys.add(attached.startColumn());
        }
        AggregateLayout layout = new AggregateLayout(
                new KeyLayout(input, keys), node.calls(), PartialSchemas.argumentSchema(node), false, false);
        return node.phase() == Phase.FINAL
                ? GroupKernels.merging(layout, input, keys.size() + 1, false)
                : GroupKernels.adding(layout, input, false);
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        kernels = Optional.of(kernels(node));
        images = Optional.of(new NestedImages(context.allocator()));
        noLog = Optional.of(new ChangeLog(kernels.get().layout(), context.allocator()));
    }

    // ---- rows

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            if (node.phase() == Phase.FINAL) {
                rows.splitBySliceEnd(batch, node.timeColumn(), watermark);
            } else {
                rows.split(batch, node.timeColumn(), watermark);
            }
            if (rows.lateCount() > 0) {
                context.metrics().addLateRows(rows.lateCount());
                context.lateRows(batch, rows.late(), rows.lateCount(), watermark);
            }
            for (int i = 0; i < rows.slices(); i++) {
                GroupState slice = slice(rows.end(i));
                slice.add(batch, images.get(), rows.rows(i), rows.count(i), noLog.get());
                if (isPartial && limit.isReached(rows.count(i), slice.table().size())) {
                    passOn(rows.end(i), slice, output);
                }
            }
        } catch (ArithmeticException e) {
            throw Wide.outOfRange();
        } finally {
            images.get().clear();
            rows.end();
        }
    }

    /** Emits a slice that goes on, to begin it anew. */
    private void passOn(long end, GroupState slice, Output output) {
        limit.passedOn(slice.table().size());
        Firing part = firing(end, slice, false);
        for (int count = part.cursor().advance();
                count > 0;
                count = part.cursor().advance()) {
            output.emit(batch(part, count));
        }
        slice.clear();
    }

    private GroupState slice(long end) {
        GroupState known = slices.get(end);
        if (known == null) {
            known = spareState();
            slices.put(end, known);
        }
        return known;
    }

    private GroupState spareState() {
        return spare.isEmpty() ? new GroupState(kernels.get(), context.allocator()) : spare.pop();
    }

    private void release(GroupState state) {
        if (spare.size() < MOST_SPARE_STATES && state.isWellFilled()) {
            state.clear();
            spare.push(state);
        } else {
            state.close();
        }
    }

    private void reportSize() {
        long bytes = 0;
        long entries = 0;
        for (GroupState state : slices.values()) {
            bytes += state.bytes();
            entries += state.table().size();
        }
        for (GroupState state : spare) {
            bytes += state.bytes();
        }
        context.metrics().stateSize(bytes, entries);
    }

    // ---- windows

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        watermark = Math.max(watermark, watermarkMicros); // one that was restored may be ahead of the input
        boolean done = fire(output);
        if (done) {
            fired = watermark; // also the windows that had no rows: what comes for them now comes too late
        }
        return done;
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        if (isPartial && !fire(output)) {
            return false;
        }
        reportSize();
        return true;
    }

    /** Emits all that is due; returns false if the output is full before. */
    private boolean fire(Output output) {
        while (true) {
            if (firing.isEmpty()) {
                firing = isPartial ? nextSlice() : nextWindow();
                if (firing.isEmpty()) {
                    return true;
                }
            }
            Firing current = firing.get();
            while (true) {
                if (output.isFull()) {
                    return false;
                }
                int count = current.cursor().advance();
                if (count == 0) {
                    break;
                }
                output.emit(batch(current, count));
            }
            firing = Optional.empty();
            finish(current);
        }
    }

    private Optional<Firing> nextSlice() {
        if (slices.isEmpty() || slices.firstKey() > watermark) {
            return Optional.empty();
        }
        Map.Entry<Long, GroupState> slice = slices.firstEntry();
        return Optional.of(firing(slice.getKey(), slice.getValue(), false));
    }

    private Optional<Firing> nextWindow() {
        if (slices.isEmpty()) {
            return Optional.empty();
        }
        long end = slicing.firstWindowEnd(slices.firstKey(), fired);
        assert end != Slicing.NONE : "a slice without a window to come was kept";
        if (end > watermark) {
            return Optional.empty();
        }
        NavigableMap<Long, GroupState> parts =
                isAttached ? slices.headMap(end, true) : slices.subMap(slicing.windowStart(end), false, end, true);
        if (parts.size() == 1) {
            return Optional.of(firing(end, parts.firstEntry().getValue(), false));
        }
        boolean grows = slicing.grows(end);
        GroupState whole = grows ? parts.firstEntry().getValue() : spareState();
        long first = parts.firstKey();
        for (Map.Entry<Long, GroupState> part : parts.entrySet()) {
            if (!grows || part.getKey() != first) {
                whole.merge(part.getValue());
            }
        }
        if (grows) {
            NavigableMap<Long, GroupState> merged = parts.tailMap(first, false);
            merged.values().forEach(this::release);
            merged.clear();
        }
        return Optional.of(firing(end, whole, !grows));
    }

    private Firing firing(long end, GroupState state, boolean isScratch) {
        return new Firing(end, state, isScratch, new EntryCursor(state.table(), context.batchRows()));
    }

    private void finish(Firing done) {
        if (done.isScratch()) {
            release(done.state());
        }
        if (isPartial) {
            limit.restart();
        } else {
            fired = done.end();
        }
        while (!slices.isEmpty()
                && (isPartial
                        ? slices.firstKey() <= done.end()
                        : slicing.lastWindowEnd(slices.firstKey()) <= done.end())) {
            release(slices.pollFirstEntry().getValue());
        }
    }

    private Batch batch(Firing window, int count) {
        long[] entries = window.cursor().entries();
        List<FieldVector> vectors = new ArrayList<>();
        Schema schema = node.schema();
        int keys = node.keys().size();
        try {
            for (int key = 0; key < keys; key++) {
                vectors.add(window.state().key(key, schema.field(key), entries, count));
            }
            if (isPartial) {
                vectors.add(TimeColumns.constant(schema.field(keys), window.end(), count, context.allocator()));
                vectors.addAll(window.state().states(schema, keys + 1, entries, count));
            } else {
                for (int call = 0; call < node.calls().size(); call++) {
                    vectors.add(window.state().call(call, schema.field(vectors.size()), entries, count));
                }
                Field start = schema.field(vectors.size());
                vectors.add(
                        isAttached
                                ? window.state().key(keys, start, entries, count)
                                : TimeColumns.constant(
                                        start, slicing.windowStart(window.end()), count, context.allocator()));
                vectors.add(
                        TimeColumns.constant(schema.field(vectors.size()), window.end(), count, context.allocator()));
            }
            return Batch.of(schema, vectors.toArray(FieldVector[]::new), count);
        } catch (RuntimeException e) {
            Closing.all(vectors);
            throw isPartial ? e : named(e, window, count);
        } catch (Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    /** A failure of some groups' results: the rows are told once and taken back never, so it is the query's. */
    private RuntimeException named(RuntimeException failure, Firing window, int count) {
        List<Field> fields = new ArrayList<>(node.schema().fields());
        Field end = fields.remove(fields.size() - 1);
        Field start = fields.remove(fields.size() - 1);
        if (isAttached) {
            fields.add(node.keys().size(), start); // a key
        }
        String text = TimeColumns.text(end, window.end(), context.allocator());
        return window.state()
                .named(failure, new Schema(fields), window.cursor().entries(), count, entry -> "window to " + text);
    }

    // ---- snapshots

    /** Per key group: the number of slices, then each one's end and groups; for the instance: the watermark. */
    @Override
    public void snapshot(StateWriter writer) throws IOException {
        DataOutput instance = writer.keyGroup(StateFormats.SLICES, -1);
        instance.writeLong(watermark);
        instance.writeLong(fired);
        KeyGroupPart.write(slices, GroupSnapshot::new, writer, StateFormats.SLICES);
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(StateFormats.SLICES, (in, group) -> {
            if (group == -1) {
                watermark = Math.max(watermark, in.readLong());
                fired = Math.max(fired, in.readLong());
                return;
            }
            for (int left = in.readInt(); left > 0; left--) {
                GroupSnapshot.read(slice(in.readLong()), in);
            }
        });
        reportSize();
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(slices.values());
        all.addAll(spare);
        firing.filter(Firing::isScratch).ifPresent(current -> all.add(current.state()));
        images.ifPresent(all::add);
        noLog.ifPresent(all::add);
        slices.clear();
        spare.clear();
        firing = Optional.empty();
        images = Optional.empty();
        noLog = Optional.empty();
        Closing.all(all);
    }
}
