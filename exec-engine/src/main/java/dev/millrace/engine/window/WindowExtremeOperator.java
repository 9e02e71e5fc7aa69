package dev.millrace.engine.window;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Owned;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.engine.state.RowTable;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PlanNode.WindowExtreme;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.arrow.vector.FieldVector;

/**
 * Keeps per key and slice the rows whose value is the greatest (or least) so far, and emits those of a window at its
 * close. A row below the extreme is looked at once and copied nowhere.
 */
public final class WindowExtremeOperator implements Operator {

    private final WindowExtreme node;
    private final Slicing slicing;
    private final boolean isAttached;
    private final boolean fitsWord;
    private final SliceRows slices;
    private final ExtremeValues values;
    private final int[] columns;
    private final NavigableMap<Long, ExtremeSlice> bySlice = new TreeMap<>();
    private final Owned owned = new Owned();
    private OperatorContext context;
    private KeyLayout keys;
    private KeyFinder finder;
    private RowCodec codec;
    private RowOrder order; // of the value, the best first
    private long watermark = NO_WATERMARK;
    private long fired = NO_WATERMARK;
    private int[] candidates = new int[0];
    private int candidateCount;

    // The window being emitted.
    private long[] due = new long[64];
    private int dueCount;
    private int emitted;
    private long dueEnd;
    private boolean isFiring;
    private Optional<ExtremeSlice> whole = Optional.empty(); // its slices put together, if they are several

    public WindowExtremeOperator(WindowExtreme node) {
        this.node = node;
        this.slicing = Slicing.of(node.window());
        this.isAttached = node.window() instanceof WindowSpec.Attached;
        this.slices = new SliceRows(slicing);
        DataType type = node.input().schema().type(node.valueColumn());
        this.fitsWord = ExtremeValues.fits(type);
        this.values = new ExtremeValues(type, node.maximum());
        this.columns = new int[node.input().schema().size()];
        Arrays.setAll(columns, column -> column);
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        Schema input = node.input().schema();
        List<Integer> allKeys = new ArrayList<>(node.keys());
        if (node.window() instanceof WindowSpec.Attached attached) {
            allKeys.add(attached.startColumn());
        }
        keys = new KeyLayout(input, allKeys);
        finder = new KeyFinder(input, keys, context.allocator());
        owned.own(finder);
        List<DataType> types = input.fields().stream().map(Field::type).toList();
        codec = new RowCodec(types, false, context.allocator());
        owned.own(codec);
        order = new RowOrder(codec, types, List.of(new OrderKey(node.valueColumn(), node.maximum(), false)));
    }

    // ---- rows

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            slices.split(batch, node.timeColumn(), watermark);
            if (slices.lateCount() > 0) {
                context.metrics().addLateRows(slices.lateCount());
                context.lateRows(batch, slices.late(), slices.lateCount(), watermark);
            }
            if (candidates.length < batch.rowCount()) {
                candidates = new int[batch.rowCount()];
            }
            if (slices.slices() > 0) {
                long[] loaded = values.load(batch, node.valueColumn());
                for (int i = 0; i < slices.slices(); i++) {
                    add(batch, slice(slices.end(i)), slices.rows(i), slices.count(i), loaded);
                    if (node.closedEnd()) {
                        addBoundary(batch, slicing.sliceStart(slices.end(i)), slices.rows(i), slices.count(i));
                    }
                }
            }
        } finally {
            slices.end();
        }
    }

    private ExtremeSlice slice(long end) {
        ExtremeSlice known = bySlice.get(end);
        if (known == null) {
            known = new ExtremeSlice(keys, context.allocator());
            bySlice.put(end, known);
        }
        return known;
    }

    private void add(Batch batch, ExtremeSlice slice, int[] rows, int count, long[] loaded) {
        long validity = batch.validityAddress(node.valueColumn());
        boolean isSingle = keys.keys().isEmpty() && fitsWord;
        if (isSingle) {
            selectSingle(slice, rows, count, loaded, validity);
        } else {
            candidateCount = 0;
            for (int i = 0; i < count; i++) {
                candidates[candidateCount] = rows[i];
                candidateCount += validity == 0 || Memory.getBit(validity, rows[i]) ? 1 : 0;
            }
        }
        if (candidateCount == 0) {
            return;
        }
        long[] entries = finder.find(slice.table(), batch, candidates, candidateCount);
        if (!fitsWord) {
            addRows(batch, slice, entries);
            return;
        }
        if (!isSingle) {
            selectByKey(slice, entries, loaded);
        }
        codec.encode(batch, columns, candidates, candidateCount);
        for (int i = 0; i < candidateCount; i++) {
            slice.add(entries[i], loaded[candidates[i]], codec.address(i), codec.length(i));
        }
    }

    /** Without keys: the rows that have the greatest value of slice and batch. */
    private void selectSingle(ExtremeSlice slice, int[] rows, int count, long[] loaded, long validity) {
        GroupTable table = slice.table();
        boolean isNew = table.size() == 0 || slice.isEmpty(table.word(0) & GroupTable.ADDRESS);
        long extreme = isNew ? Long.MIN_VALUE : slice.extreme(table.word(0) & GroupTable.ADDRESS);
        int found = 0;
        for (int i = 0; i < count; i++) {
            int row = rows[i];
            if (loaded[row] >= extreme && (validity == 0 || Memory.getBit(validity, row))) {
                if (loaded[row] > extreme) {
                    extreme = loaded[row];
                    found = 0;
                }
                candidates[found++] = row;
            }
        }
        candidateCount = found;
    }

    /** With keys: keeps the candidates that reach the extreme of their key as it is now, and their entries. */
    private void selectByKey(ExtremeSlice slice, long[] entries, long[] loaded) {
        int kept = 0;
        for (int i = 0; i < candidateCount; i++) {
            if (loaded[candidates[i]] >= slice.extreme(entries[i])) {
                entries[kept] = entries[i];
                candidates[kept++] = candidates[i];
            }
        }
        // Rows overtaken within the batch are copied and dropped again: few, as prices of one key rarely rise in order.
        for (int i = 0; i < kept; i++) {
            long value = loaded[candidates[i]];
            if (value > slice.extreme(entries[i])) {
                slice.raise(entries[i], value);
            }
        }
        candidateCount = 0;
        for (int i = 0; i < kept; i++) {
            if (loaded[candidates[i]] == slice.extreme(entries[i])) {
                entries[candidateCount] = entries[i];
                candidates[candidateCount++] = candidates[i];
            }
        }
    }

    /** Values that are no integers: compares rows. */
    private void addRows(Batch batch, ExtremeSlice slice, long[] entries) {
        codec.encode(batch, columns, candidates, candidateCount);
        for (int i = 0; i < candidateCount; i++) {
            addRow(slice, entries[i], codec.address(i), codec.length(i));
        }
    }

    private void addRow(ExtremeSlice slice, long entry, long row, int length) {
        int comparison = slice.isEmpty(entry) ? -1 : order.compare(row, RowTable.first(slice.rowList(entry)));
        if (comparison < 0) {
            slice.replace(entry, row, length);
        } else if (comparison == 0) {
            slice.append(slice.rowList(entry), row, length);
        }
    }

    /** Keeps rows exactly at the end of the slice before for the windows that end there. */
    private void addBoundary(Batch batch, long end, int[] rows, int count) {
        long times = batch.dataAddress(node.timeColumn());
        long validity = batch.validityAddress(node.valueColumn());
        int found = 0;
        for (int i = 0; i < count; i++) {
            candidates[found] = rows[i];
            boolean isAtEnd = Memory.getLong(times + 8L * rows[i]) == end;
            found += isAtEnd && (validity == 0 || Memory.getBit(validity, rows[i])) ? 1 : 0;
        }
        if (found == 0 || end < watermark) {
            return;
        }
        ExtremeSlice slice = slice(end);
        long[] entries = finder.find(slice.table(), batch, candidates, found);
        codec.encode(batch, columns, candidates, found);
        for (int i = 0; i < found; i++) {
            slice.append(slice.boundaryList(entries[i]), codec.address(i), codec.length(i));
        }
    }

    private void reportSize() {
        long bytes = 0;
        long rows = 0;
        for (ExtremeSlice slice : bySlice.values()) {
            bytes += slice.bytes();
            rows += slice.rowCount();
        }
        context.metrics().stateSize(bytes, rows);
    }

    // ---- windows

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        watermark = Math.max(watermark, watermarkMicros); // one that was restored may be ahead of the input
        // A row exactly at the watermark may still come; with a closed end it counts for the window that ends there.
        long closed = node.closedEnd() && watermarkMicros != END_OF_INPUT ? watermarkMicros - 1 : watermarkMicros;
        while (true) {
            if (!isFiring && !fireNext(closed)) {
                break;
            }
            while (emitted < dueCount) {
                if (output.isFull()) {
                    return false;
                }
                int count = Math.min(context.batchRows(), dueCount - emitted);
                output.emit(batch(Arrays.copyOfRange(due, emitted, emitted + count), count));
                emitted += count;
            }
            finish();
        }
        fired = Math.max(fired, closed);
        reportSize();
        return true;
    }

    /** Collects the rows of the next window that is closed; returns false if there is none. */
    private boolean fireNext(long closed) {
        if (bySlice.isEmpty()) {
            return false;
        }
        long end = slicing.firstWindowEnd(bySlice.firstKey(), fired);
        if (end == Slicing.NONE) { // it had boundary rows only, of a window that ended or of none
            bySlice.pollFirstEntry().getValue().close();
            return true;
        }
        if (end > closed) {
            return false;
        }
        dueCount = 0;
        emitted = 0;
        dueEnd = end;
        isFiring = true;
        NavigableMap<Long, ExtremeSlice> parts =
                isAttached ? bySlice.headMap(end, true) : bySlice.subMap(slicing.windowStart(end), false, end, true);
        if (parts.size() == 1) {
            ExtremeSlice only = parts.firstEntry().getValue();
            collect(only, Optional.of(only).filter(slice -> parts.firstKey() == end));
        } else {
            whole = Optional.of(new ExtremeSlice(keys, context.allocator()));
            parts.values().forEach(part -> merge(part, whole.get()));
            collect(whole.get(), Optional.ofNullable(parts.get(end)));
        }
        return true;
    }

    /** Collects the rows of a window, and those at its end that reach its extreme. */
    private void collect(ExtremeSlice window, Optional<ExtremeSlice> last) {
        EntryCursor cursor = new EntryCursor(window.table(), 256);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                long list = window.rowList(cursor.entries()[i]);
                for (long row = RowTable.first(list); row != 0; row = RowTable.next(row)) {
                    put(row);
                }
            }
        }
        if (node.closedEnd() && last.isPresent()) {
            collectBoundary(window, last.get());
        }
    }

    private void collectBoundary(ExtremeSlice window, ExtremeSlice last) {
        EntryCursor cursor = new EntryCursor(last.table(), 256);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                long from = cursor.entries()[i];
                long entry = keys.find(window.table(), Memory.getLong(from), from);
                if (entry < 0 || window.isEmpty(entry)) {
                    continue;
                }
                long best = RowTable.first(window.rowList(entry));
                for (long row = RowTable.first(last.boundaryList(from)); row != 0; row = RowTable.next(row)) {
                    if (order.compare(row, best) == 0) {
                        put(row);
                    }
                }
            }
        }
    }

    private void put(long row) {
        if (dueCount == due.length) {
            due = Arrays.copyOf(due, 2 * dueCount);
        }
        due[dueCount++] = row;
    }

    private void finish() {
        isFiring = false;
        fired = dueEnd;
        whole.ifPresent(ExtremeSlice::close);
        whole = Optional.empty();
        while (!bySlice.isEmpty() && slicing.lastWindowEnd(bySlice.firstKey()) <= dueEnd) {
            bySlice.pollFirstEntry().getValue().close();
        }
    }

    private Batch batch(long[] rows, int count) {
        List<FieldVector> vectors = new ArrayList<>();
        Schema schema = node.schema();
        int inputs = columns.length;
        try {
            for (int column = 0; column < inputs; column++) {
                vectors.add(codec.decode(column, schema.field(column), rows, count, context.allocator()));
            }
            if (node.window() instanceof WindowSpec.Attached attached) {
                vectors.add(
                        codec.decode(attached.startColumn(), schema.field(inputs), rows, count, context.allocator()));
            } else {
                vectors.add(TimeColumns.constant(
                        schema.field(inputs), slicing.windowStart(dueEnd), count, context.allocator()));
            }
            vectors.add(TimeColumns.constant(schema.field(inputs + 1), dueEnd, count, context.allocator()));
            return Batch.of(schema, vectors.toArray(FieldVector[]::new), count);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    private void merge(ExtremeSlice part, ExtremeSlice to) {
        EntryCursor cursor = new EntryCursor(part.table(), 256);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                long from = cursor.entries()[i];
                if (part.isEmpty(from)) {
                    continue;
                }
                long entry = to.findOrInsert(from);
                if (fitsWord && !to.isEmpty(entry) && part.extreme(from) < to.extreme(entry)) {
                    continue;
                }
                for (long row = RowTable.first(part.rowList(from)); row != 0; row = RowTable.next(row)) {
                    if (fitsWord) {
                        to.add(entry, part.extreme(from), row, RowTable.length(row));
                    } else {
                        addRow(to, entry, row, RowTable.length(row));
                    }
                }
            }
        }
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        reportSize();
        return true;
    }

    // ---- snapshots

    /** Per key group: the number of slices, then each one's end and entries; for the instance: the watermark. */
    @Override
    public void snapshot(StateWriter writer) throws IOException {
        DataOutput instance = writer.keyGroup(StateFormats.EXTREMES, -1);
        instance.writeLong(watermark);
        instance.writeLong(fired);
        KeyGroupPart.write(
                bySlice, slice -> KeyGroupPart.of(slice.table(), slice::write), writer, StateFormats.EXTREMES);
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(StateFormats.EXTREMES, (in, group) -> {
            if (group == -1) {
                watermark = Math.max(watermark, in.readLong());
                fired = Math.max(fired, in.readLong());
                return;
            }
            for (int left = in.readInt(); left > 0; left--) {
                slice(in.readLong()).read(in);
            }
        });
        reportSize();
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(bySlice.values());
        all.add(owned);
        whole.ifPresent(all::add);
        whole = Optional.empty();
        bySlice.clear();
        Closing.all(all);
    }
}
