package dev.millrace.engine.over;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Owned;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupEntries;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.Rows;
import dev.millrace.engine.state.TouchedGroups;
import dev.millrace.error.MillraceException;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.Over;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Window functions over partitions, in one of two ways:
 *
 * <pre>
 *   changes   epoch end: put what came in order, compute the rows it touches, emit what differs from what was emitted
 *   closing   watermark: put what came in order, compute the rows it has passed, emit them once,
 *             and forget the rows that no later frame reaches back to
 * </pre>
 */
public final class OverOperator implements Operator {

    private final Over node;
    private final boolean closing;
    private final int[] columns;
    private final Owned owned = new Owned();
    private OperatorContext context;
    private PartitionState partitions;
    private KeyFinder finder;
    private RowCodec codec;
    private OrderedRows rows;
    private OrderedArrivals arrivals;
    private Optional<SilentPartitions> silent = Optional.empty();
    private Computation computation;
    private Reach reach;
    private Changes changes;
    private final Noted results = new Noted();
    // partitions with pending rows; when closing, with rows to release
    private final TouchedGroups touched = new TouchedGroups();
    private int next; // of the touched ones
    private int kept; // of those gone through, how many have more to release

    public OverOperator(Over node) {
        this.node = node;
        this.closing = node.closing().isPresent();
        this.columns = new int[node.input().schema().size()];
        Arrays.setAll(columns, column -> column);
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        Schema input = node.input().schema();
        KeyLayout keys = new KeyLayout(input, node.partition());
        List<dev.millrace.type.DataType> types =
                input.fields().stream().map(Field::type).toList();
        codec = owned.own(new RowCodec(types, false, context.allocator()));
        RowCodec resultCodec = owned.own(new RowCodec(
                Computation.resultsOf(node).fields().stream().map(Field::type).toList(), false, context.allocator()));
        finder = owned.own(new KeyFinder(input, keys, context.allocator()));
        rows = new OrderedRows(codec, types, node.order());
        computation = owned.own(new Computation(node, rows, resultCodec, context));
        partitions = owned.own(new PartitionState(keys, computation.words(), context.allocator()));
        reach = new Reach(rows, node.calls());
        changes = new Changes(codec, resultCodec, node.schema(), partitions, context);
        arrivals = new OrderedArrivals(partitions, rows, changes);
        silent = closing ? SilentPartitions.of(node.calls(), node.closing().getAsInt(), codec) : Optional.empty();
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            int count = batch.rowCount();
            long[] entries = partitions.add(batch, Rows.all(count), count, finder, codec, columns);
            for (int i = 0; i < count; i++) {
                touched.add(entries[i]);
            }
        }
        reportSize();
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        if (closing) {
            return true;
        }
        while (next < touched.count()) {
            if (!drain(output, context.batchRows())) {
                return false;
            }
            update(touched.get(next++));
        }
        if (!drain(output, 1)) {
            return false;
        }
        touched.truncate(0);
        next = 0;
        reportSize();
        return true;
    }

    /** Emits until fewer than {@code enough} changes are left; returns whether that was possible. */
    private boolean drain(Output output, int enough) {
        while (changes.size() >= enough) {
            if (output.isFull()) {
                return false;
            }
            output.emit(changes.next(context.batchRows()));
        }
        if (changes.size() == 0) {
            changes.free();
        }
        return true;
    }

    /** Puts what came for a partition in order and notes how its results differ from those emitted. */
    private void update(long entry) {
        Memory.putLong(entry + GroupTable.LINK, 0);
        reach.clear();
        computation.select(partitions.words(entry));
        arrivals.merge(entry, reach, computation);
        for (int range = 0; range < reach.ranges(); range++) {
            computation.compute(reach.from(range), reach.to(range), results);
        }
        removeIfEmpty(entry);
    }

    private void removeIfEmpty(long entry) {
        if (partitions.isEmpty(entry)) {
            computation.forget();
            partitions.removeIfEmpty(entry);
        }
    }

    /** Notes how results differ from those emitted. */
    private final class Noted implements Computation.Receiver {
        @Override
        public void accept(int index, long bytes, int length) {
            long row = rows.at(index);
            long before = KeptRow.result(row);
            if (before == 0 || !KeptRow.hasBytes(before, bytes, length)) {
                replace(row, before, KeptRow.createResult(bytes, length, partitions.memory()));
            }
        }

        @Override
        public void failed(int index, MillraceException why) {
            long row = rows.at(index);
            replace(row, KeptRow.result(row), KeptRow.createFailure(why, partitions.memory()));
        }

        private void replace(long row, long before, long result) {
            if (before != 0) {
                changes.add(row, before, -1);
                changes.freeResult(before);
            }
            KeptRow.setResult(row, result);
            changes.add(row, result, 1);
        }
    }

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        if (!closing) {
            return true;
        }
        while (next < touched.count()) {
            if (!drain(output, context.batchRows())) {
                return false;
            }
            long entry = touched.get(next++);
            if (release(entry, watermarkMicros)) {
                touched.keep(kept++, entry);
            }
        }
        if (!drain(output, 1)) {
            return false;
        }
        touched.truncate(kept);
        next = 0;
        kept = 0;
        silent.ifPresent(partitionsBySilence -> partitionsBySilence.take(watermarkMicros, entry -> {
            partitions.setWatched(entry, false);
            forgetIfSilent(entry, watermarkMicros);
        }));
        reportSize();
        return true;
    }

    /** Drops the rows of a partition when no row to come has one of them in its frame. */
    private void forgetIfSilent(long entry, long watermark) {
        boolean isAtRest = Memory.getLong(entry + GroupTable.LINK) == 0;
        int count = partitions.count(entry);
        if (isAtRest && count > 0) {
            computation.select(partitions.words(entry));
            arrivals.show(entry);
            if (silent.get().due(rows.at(count - 1)) <= watermark) {
                computation.forget();
                arrivals.evict(entry, count);
            }
        }
        removeIfEmptyOrWatch(entry, watermark);
    }

    private void removeIfEmptyOrWatch(long entry, long watermark) {
        int count = partitions.count(entry);
        if (silent.isPresent() && count > 0 && !partitions.isWatched(entry)) {
            arrivals.show(entry);
            partitions.setWatched(entry, true);
            silent.get().add(entry, Math.max(watermark, silent.get().due(rows.at(count - 1))));
        }
        removeIfEmpty(entry);
    }

    /** Emits the rows of a partition before the watermark; returns whether others are left. */
    private boolean release(long entry, long watermark) {
        reach.clear();
        computation.select(partitions.words(entry));
        arrivals.merge(entry, reach, computation);
        int from = partitions.released(entry);
        int to = from;
        int time = codec.slot(node.closing().getAsInt());
        while (to < rows.count() && Memory.getLong(rows.at(to) + time) < watermark) {
            to++;
        }
        if (to > from) {
            computation.compute(from, to, results);
            partitions.setReleased(entry, to);
            int unneeded = Math.min(to, computation.stillNeeded(to - 1));
            if (watermark == END_OF_INPUT) {
                unneeded = to; // nothing comes behind
            }
            if (unneeded > rows.count() / 2 || unneeded == rows.count()) { // moving the others down is paid for
                computation.forget();
                arrivals.evict(entry, unneeded);
            }
        }
        boolean more = partitions.released(entry) < partitions.count(entry);
        Memory.putLong(entry + GroupTable.LINK, more ? 1 : 0);
        removeIfEmptyOrWatch(entry, watermark);
        return more;
    }

    private void reportSize() {
        long waiting = silent.map(SilentPartitions::bytes).orElse(0L);
        context.metrics().stateSize(partitions.bytes() + waiting, partitions.rows());
    }

    @Override
    public void snapshot(StateWriter writer) throws IOException {
        KeyGroupPart.of(partitions.table(), partitions::write).write(writer, StateFormats.OVER);
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(StateFormats.OVER, (in, group) -> {
            partitions.read(in);
        });
        KeyGroupEntries entries = new KeyGroupEntries(partitions.table());
        for (int group = 0; group < KeyGroups.COUNT; group++) {
            for (int i = 0; i < entries.count(group); i++) {
                long entry = entries.entry(group, i);
                if (closing || partitions.hasPending(entry)) {
                    touched.add(entry);
                }
            }
        }
        reportSize();
    }

    @Override
    public void close() {
        owned.close();
    }
}
