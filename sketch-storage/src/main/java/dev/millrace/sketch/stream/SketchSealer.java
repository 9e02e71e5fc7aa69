package dev.millrace.sketch.stream;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
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
import dev.millrace.sketch.form.Limits;
import dev.millrace.sketch.form.NumberColumnCodec;
import dev.millrace.sketch.form.TextColumnCodec;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.SketchHeader.Announcement;
import dev.millrace.sketch.segment.StreamVersion;
import dev.millrace.sketch.time.TimeCodec;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Stores a sketch that came out of an operation as segments that can each be read alone: one, or as many as its rows and texts
 * need. No value changes.
 */
public final class SketchSealer {
    private final Sketch sketch;
    private final Keep keep;
    private final List<byte[]> segments = new ArrayList<>();

    private SketchSealer(Sketch sketch, Keep keep) {
        this.sketch = sketch;
        this.keep = keep;
    }

    /** The segments of a sketch, in the order of its rows. */
    public static List<byte[]> seal(Sketch sketch, Keep keep) {
        SketchSealer sealer = new SketchSealer(sketch, keep);
        int most =
                Math.max(1, Math.min(Limits.ROWS, Limits.CELLS / sketch.schema().size()));
        for (int from = 0; from < sketch.rows(); from += most) {
            sealer.seal(from, Math.min(sketch.rows(), from + most));
        }
        return sealer.segments;
    }

    private void seal(int from, int to) {
        if (textBytes(from, to) > Limits.TEXT_BYTES) {
            if (to - from == 1) {
                throw MillraceException.user(
                        SqlState.PROGRAM_LIMIT_EXCEEDED,
                        "a row has more than the " + Limits.TEXT_BYTES + " bytes of text that a segment holds");
            }
            seal(from, from + to >>> 1);
            seal(from + to >>> 1, to);
            return;
        }
        int rows = to - from;
        long[] ticks = new long[rows];
        sketch.times().copy(from, ticks);
        List<BinSet> bins = new ArrayList<>();
        List<ColumnPlan> plans = new ArrayList<>();
        for (Column column : sketch.columns()) {
            BinSet mine = bins(column);
            bins.add(mine);
            plans.add(plan(column, from, to, mine));
        }
        // Times are as far off as they are, which may be less than was allowed.
        boolean off = sketch.timeErrorTicks() > 0;
        SketchSchema schema = off ? sketch.schema().withTimeBound(sketch.timeErrorTicks()) : sketch.schema();
        StreamVersion version = new StreamVersion(0, 1, 1, schema, bins, TimeCodec.clockwork(ticks, rows, 0), rows);
        segments.add(SegmentCodec.seal(version, version, Announcement.COMPLETE, 0, new SegmentCodec.Body() {
            @Override
            public boolean joint() {
                return false;
            }

            @Override
            public void write(BitWriter out) {
                SegmentCodec.writeRows(out, rows, version);
                TimeCodec.write(out, ticks, rows, 0, off, SegmentCodec.times(version, 0), keep);
                for (int f = 0; f < plans.size(); f++) {
                    plans.get(f).write(out, f == plans.size() - 1);
                }
            }
        }));
    }

    private long textBytes(int from, int to) {
        long bytes = 0;
        for (Column column : sketch.columns()) {
            if (column.symbols() instanceof TextSymbols texts) {
                boolean[] occurs = new boolean[texts.size() + 1];
                int[] ranks = column.sequence().ranks();
                for (int row = from; row < to; row++) {
                    occurs[ranks[row]] = true;
                }
                for (int rank = 0; rank < texts.size(); rank++) {
                    bytes += occurs[rank] ? texts.text(rank).getBytes(StandardCharsets.UTF_8).length : 0;
                }
            }
        }
        return bytes;
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

    private ColumnPlan plan(Column column, int from, int to, BinSet bins) {
        int rows = to - from;
        int[] ranks = column.sequence().ranks();
        int nullRank = column.symbols().size();
        boolean[] nulls = new boolean[rows];
        int[] present = new int[rows];
        int count = 0;
        for (int row = 0; row < rows; row++) {
            nulls[row] = ranks[from + row] == nullRank;
            if (!nulls[row]) {
                present[count++] = ranks[from + row];
            }
        }
        if (column.symbols() instanceof TextSymbols texts) {
            return text(texts, nulls, rows, Arrays.copyOf(present, count));
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
        return NumberColumnCodec.planOfBins(nulls, rows, binned, values, count, bins, keep);
    }

    /** Texts in the order in which they first occur, without those that do not occur any more. */
    private ColumnPlan text(TextSymbols texts, boolean[] nulls, int rows, int[] present) {
        Map<Integer, Integer> order = new LinkedHashMap<>();
        long[] ranks = new long[present.length];
        for (int i = 0; i < ranks.length; i++) {
            ranks[i] = order.computeIfAbsent(present[i], rank -> order.size());
        }
        List<String> kept = order.keySet().stream().map(texts::text).toList();
        return TextColumnCodec.plan(nulls, rows, ranks, ranks.length, kept, keep);
    }
}
