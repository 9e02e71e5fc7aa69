package dev.millrace.sketch.query;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.Sequence;

/** Goes through rows in stretches over which several features stay the same. Not thread-safe. */
public final class RunMerger {
    private final Sequence[] sequences;
    private final Sequence.Runs[] runs; // per feature; null when it is read row by row
    private final int[][] rows;
    private final int[] run;
    private final int[] ranks;
    private final boolean single; // some feature is read row by row
    private final int to;
    private int at;
    private int length;

    /** Rows {@code from} to {@code to}, excluded. */
    public RunMerger(Sketch sketch, int[] features, int from, int to) {
        this.to = to;
        this.at = from;
        sequences = new Sequence[features.length];
        runs = new Sequence.Runs[features.length];
        rows = new int[features.length][];
        run = new int[features.length];
        ranks = new int[features.length];
        boolean anySingle = false;
        for (int i = 0; i < features.length; i++) {
            sequences[i] = sketch.column(features[i]).sequence();
            if (sequences[i].inRuns()) {
                runs[i] = sequences[i].runs();
                run[i] = runs[i].find(from);
            } else {
                rows[i] = sequences[i].ranks();
                anySingle = true;
            }
        }
        single = anySingle;
    }

    /** Goes to the next stretch; false behind the last. */
    public boolean next() {
        at += length;
        if (at >= to) {
            return false;
        }
        int end = single ? at + 1 : to;
        for (int i = 0; i < runs.length; i++) {
            if (runs[i] == null) {
                ranks[i] = rows[i][at];
                continue;
            }
            int[] ends = runs[i].ends();
            while (ends[run[i]] <= at) {
                run[i]++;
            }
            ranks[i] = runs[i].ranks()[run[i]];
            end = Math.min(end, ends[run[i]]);
        }
        // Rows read one by one may still be alike.
        while (single && end < to && alike(end)) {
            end++;
        }
        length = end - at;
        return true;
    }

    private boolean alike(int row) {
        for (int i = 0; i < runs.length; i++) {
            boolean same = runs[i] == null ? rows[i][row] == ranks[i] : runs[i].ends()[run[i]] > row;
            if (!same) {
                return false;
            }
        }
        return true;
    }

    /** The ranks of the stretch; overwritten by the next. */
    public int[] ranks() {
        return ranks;
    }

    /** How many rows it has. */
    public int length() {
        return length;
    }
}
