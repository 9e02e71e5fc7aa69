package dev.millrace.engine.topn;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Owned;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowTable;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** The first rows of each partition of a window, emitted once when the watermark reaches the window's end. */
public final class WindowTopNOperator implements Operator {

    private final TopN node;
    private final int endColumn;
    private final int[] columns;
    private final NavigableMap<Long, RankedPartitions> windows = new TreeMap<>();
    private final Owned owned = new Owned();
    private OperatorContext context;
    private KeyLayout keys;
    private KeyFinder finder;
    private RowCodec codec;
    private Ranking ranking;
    private long watermark = NO_WATERMARK;
    private Optional<EntryCursor> cursor = Optional.empty(); // of the window being emitted, one partition at a time
    private RankedRows due; // to be emitted

    public WindowTopNOperator(TopN node) {
        this.node = node;
        this.endColumn = node.windowEnd().orElseThrow();
        this.columns = new int[node.input().schema().size()];
        Arrays.setAll(columns, column -> column);
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        Schema input = node.input().schema();
        keys = new KeyLayout(input, node.partition());
        codec = owned.own(new RowCodec(input.fields().stream().map(Field::type).toList(), false, context.allocator()));
        finder = owned.own(new KeyFinder(input, keys, context.allocator()));
        ranking = new Ranking(node, codec);
        due = owned.own(new RankedRows(node, codec, context.batchRows(), context.allocator()));
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            long ends = batch.dataAddress(endColumn);
            long validity = batch.validityAddress(endColumn);
            int count = batch.rowCount();
            int[] selected = new int[count];
            int[] late = new int[count];
            int lateCount = 0;
            for (int row = 0; row < count; ) {
                long end = Memory.getLong(ends + 8L * row);
                if (validity != 0 && !Memory.getBit(validity, row) || end <= watermark) {
                    late[lateCount++] = row++;
                    continue;
                }
                int run = 0;
                while (row < count
                        && Memory.getLong(ends + 8L * row) == end
                        && (validity == 0 || Memory.getBit(validity, row))) {
                    selected[run++] = row++;
                }
                window(end).add(batch, selected, run, finder, codec, columns);
            }
            if (lateCount > 0) {
                context.metrics().addLateRows(lateCount);
                context.lateRows(batch, late, lateCount, watermark);
            }
        }
    }

    private RankedPartitions window(long end) {
        return windows.computeIfAbsent(end, absent -> new RankedPartitions(keys, context.allocator()));
    }

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        watermark = Math.max(watermark, watermarkMicros); // one that was restored may be ahead of the input
        while (!windows.isEmpty() && windows.firstKey() <= watermarkMicros) {
            RankedPartitions window = windows.firstEntry().getValue();
            if (cursor.isEmpty()) {
                cursor = Optional.of(new EntryCursor(window.table(), 1));
            }
            while (!due.isEmpty() || cursor.get().advance() > 0) {
                if (due.isEmpty()) {
                    rank(window, cursor.get().entries()[0]);
                }
                if (!due.emit(output)) {
                    return false;
                }
            }
            cursor = Optional.empty();
            windows.pollFirstEntry().getValue().close();
        }
        reportSize();
        return true;
    }

    private void rank(RankedPartitions window, long entry) {
        ranking.rank(window.rowList(entry));
        for (int i = 0; i < ranking.count(); i++) {
            long row = ranking.row(i);
            due.append(row, RowTable.length(row), ranking.rankOf(i), ranking.weight(i));
        }
    }

    private void reportSize() {
        long bytes = 0;
        long rows = 0;
        for (RankedPartitions window : windows.values()) {
            bytes += window.bytes();
            rows += window.rows().size();
        }
        context.metrics().stateSize(bytes, rows);
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        reportSize();
        return true;
    }

    @Override
    public void snapshot(StateWriter writer) throws IOException {
        writer.keyGroup(StateFormats.RANKED_WINDOWS, -1).writeLong(watermark);
        KeyGroupPart.write(
                windows, window -> KeyGroupPart.of(window.table(), window::write), writer, StateFormats.RANKED_WINDOWS);
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(StateFormats.RANKED_WINDOWS, (in, group) -> {
            if (group == -1) {
                watermark = Math.max(watermark, in.readLong());
                return;
            }
            for (int left = in.readInt(); left > 0; left--) {
                window(in.readLong()).read(in);
            }
        });
        reportSize();
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(windows.values());
        all.add(owned);
        windows.clear();
        Closing.all(all);
    }
}
