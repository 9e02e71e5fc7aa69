package dev.millrace.sketch.transform;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.Sequence;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Some rows of a sketch as a sketch. */
final class SketchSelection {
    private SketchSelection() {}

    /** The rows of some ranges; at least one row. */
    static Sketch of(Sketch sketch, Ranges ranges) {
        int rows = ranges.rows();
        if (rows == sketch.rows()) {
            return sketch;
        }
        int[] bounds = ranges.bounds();
        List<Column> columns = new ArrayList<>();
        for (Column column : sketch.columns()) {
            columns.add(Column.of(column.symbols(), select(column.sequence(), bounds, rows)));
        }
        return new Sketch(
                sketch.schema(),
                sketch.times().select(bounds, rows),
                sketch.timeErrorTicks(),
                columns,
                Optional.empty());
    }

    private static Sequence select(Sequence sequence, int[] bounds, int rows) {
        if (!sequence.inRuns()) {
            return Sequence.lazy(rows, () -> {
                int[] source = sequence.ranks();
                int[] ranks = new int[rows];
                int used = 0;
                for (int b = 0; b < bounds.length; b += 2) {
                    int length = bounds[b + 1] - bounds[b];
                    System.arraycopy(source, bounds[b], ranks, used, length);
                    used += length;
                }
                return ranks;
            });
        }
        Sequence.Runs runs = sequence.runs();
        int[] ranks = new int[Math.min(rows, runs.count() + bounds.length / 2)];
        int[] ends = new int[ranks.length];
        int used = 0;
        int written = 0;
        for (int b = 0; b < bounds.length; b += 2) {
            int at = bounds[b];
            for (int run = runs.find(at); at < bounds[b + 1]; run++) {
                int to = Math.min(runs.ends()[run], bounds[b + 1]);
                written += to - at;
                at = to;
                if (used > 0 && ranks[used - 1] == runs.ranks()[run]) {
                    ends[used - 1] = written;
                } else {
                    ranks[used] = runs.ranks()[run];
                    ends[used++] = written;
                }
            }
        }
        return Sequence.ofRuns(rows, new Sequence.Runs(Arrays.copyOf(ranks, used), Arrays.copyOf(ends, used), used));
    }

    /** Every {@code step}-th row from {@code first} on. */
    static Sequence every(Sequence sequence, int first, int step, int rows) {
        if (!sequence.inRuns()) {
            return Sequence.lazy(rows, () -> {
                int[] source = sequence.ranks();
                int[] ranks = new int[rows];
                for (int i = 0; i < rows; i++) {
                    ranks[i] = source[first + i * step];
                }
                return ranks;
            });
        }
        Sequence.Runs runs = sequence.runs();
        int[] ranks = new int[Math.min(rows, runs.count())];
        int[] ends = new int[ranks.length];
        int used = 0;
        int before = 0;
        for (int r = 0; r < runs.count(); r++) {
            // How many of the rows first, first + step, ... lie before the run's end.
            int end = runs.ends()[r] <= first ? 0 : (runs.ends()[r] - first + step - 1) / step;
            if (end > before) {
                ranks[used] = runs.ranks()[r];
                ends[used++] = end;
                before = end;
            }
        }
        return Sequence.ofRuns(rows, new Sequence.Runs(ranks, ends, used));
    }
}
