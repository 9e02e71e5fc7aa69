package dev.millrace.sketch.stream;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.bins.BinSet;
import dev.millrace.sketch.bins.Binned;
import dev.millrace.sketch.bins.Scale;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.column.TextSymbols;
import dev.millrace.sketch.form.ColumnPlan;
import dev.millrace.sketch.form.Keep;
import dev.millrace.sketch.form.NumberColumnCodec;
import dev.millrace.sketch.form.TextColumnCodec;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.SegmentCodec.Announcement;
import dev.millrace.sketch.segment.StreamVersion;
import dev.millrace.sketch.time.TimeCodec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Stores a sketch that came out of an operation as a segment that can be read alone. No value changes. */
public final class SketchSealer {
    private SketchSealer() {}

    public static byte[] seal(Sketch sketch, Keep keep) {
        int rows = sketch.rows();
        long[] ticks = new long[rows];
        sketch.times().copy(0, ticks);
        List<BinSet> bins = new ArrayList<>();
        List<ColumnPlan> plans = new ArrayList<>();
        for (Column column : sketch.columns()) {
            BinSet mine = bins(column);
            bins.add(mine);
            plans.add(plan(column, mine, keep));
        }
        StreamVersion version = new StreamVersion(1, sketch.schema(), bins, TimeCodec.clockwork(ticks, rows), rows);
        return SegmentCodec.seal(version, version, Announcement.COMPLETE, new SegmentCodec.Body() {
            @Override
            public boolean joint() {
                return false;
            }

            @Override
            public void write(BitWriter out) {
                SegmentCodec.writeRows(out, rows, version);
                TimeCodec.write(out, ticks, rows, 0, version.clockwork(), keep); // they are within their bound already
                for (int f = 0; f < plans.size(); f++) {
                    plans.get(f).write(out, f == plans.size() - 1);
                }
            }
        });
    }

    private static BinSet bins(Column column) {
        if (column.symbols() instanceof NumberSymbols numbers) {
            if (numbers.scale() instanceof Scale.Grid grid) {
                return new BinSet(numbers.error(), grid.step(), List.of());
            }
            if (numbers.scale() instanceof Scale.Whole whole) {
                return new BinSet(0, whole.step(), List.of());
            }
            if (numbers.scale() instanceof Scale.Table table) {
                return new BinSet(numbers.error(), 0, table.centres());
            }
        }
        return new BinSet(0, 1, List.of());
    }

    private static ColumnPlan plan(Column column, BinSet bins, Keep keep) {
        int rows = column.rows();
        int[] ranks = column.sequence().ranks();
        int nullRank = column.symbols().size();
        boolean[] nulls = new boolean[rows];
        int[] present = new int[rows];
        int count = 0;
        for (int row = 0; row < rows; row++) {
            nulls[row] = ranks[row] == nullRank;
            if (!nulls[row]) {
                present[count++] = ranks[row];
            }
        }
        if (column.symbols() instanceof TextSymbols texts) {
            return text(texts, nulls, rows, present, count, keep);
        }
        NumberSymbols numbers = column.numbers();
        boolean listed = numbers.scale() instanceof Scale.Values;
        long[] bin = new long[count];
        double[] values = new double[count];
        boolean[] exact = new boolean[count];
        boolean anyExact = false;
        for (int i = 0; i < count; i++) {
            values[i] = numbers.value(present[i]);
            exact[i] = listed || present[i] >= numbers.binCount();
            anyExact |= exact[i];
            bin[i] = exact[i] ? i == 0 ? 0 : bin[i - 1] : numbers.bin(present[i]);
        }
        Binned binned = new Binned(numbers.scale(), numbers.error(), bin, anyExact ? exact : new boolean[0]);
        return NumberColumnCodec.plan(nulls, rows, binned, values, count, bins, keep);
    }

    /** Texts in the order in which they first occur, without those that do not occur any more. */
    private static ColumnPlan text(TextSymbols texts, boolean[] nulls, int rows, int[] present, int count, Keep keep) {
        Map<Integer, Integer> order = new LinkedHashMap<>();
        long[] ranks = new long[count];
        for (int i = 0; i < count; i++) {
            ranks[i] = order.computeIfAbsent(present[i], rank -> order.size());
        }
        List<String> kept = order.keySet().stream().map(texts::text).toList();
        return TextColumnCodec.plan(nulls, rows, ranks, count, kept, keep);
    }
}
