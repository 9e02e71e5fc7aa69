package dev.millrace.sketch.condense;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.Sequence;
import dev.millrace.sketch.query.RunMerger;
import java.util.Arrays;

/**
 * How many rows of a sketch, between two of them, have which ranks in some features: of each combination once where they are few enough to
 * be counted in a table, else for each run. Not thread-safe.
 */
final class AlikeRows {
    /** Takes the ranks of some rows, which are overwritten by the next, and how many rows these are. */
    interface Sink {
        void take(int[] ranks, int weight);
    }

    private static final int MOST_COMBINATIONS = 1 << 16;

    private int[] counts = {}; // by combination; 0 between two calls
    private int[] seen = {}; // the combinations with a count

    /** Hands on rows {@code from} to {@code to}, excluded. */
    void each(Sketch sketch, int[] features, int from, int to, Sink sink) {
        boolean all = from == 0 && to == sketch.rows();
        int[] changing = changing(sketch, features);
        if (changing.length < features.length) {
            int[] ranks = new int[features.length]; // all 0 but for the changing ones
            int[] places = places(features, changing);
            each(sketch, changing, from, to, all, (some, weight) -> {
                for (int i = 0; i < places.length; i++) {
                    ranks[places[i]] = some[i];
                }
                sink.take(ranks, weight);
            });
        } else {
            each(sketch, features, from, to, all, sink);
        }
    }

    private void each(Sketch sketch, int[] features, int from, int to, boolean all, Sink sink) {
        if (features.length == 0) {
            sink.take(features, to - from);
        } else if (all && features.length == 1) {
            ofCounts(sketch.column(features[0]).counts(), sink);
        } else if (all
                && sketch.joint().isPresent()
                && features.length == sketch.schema().size()) {
            ofCombinations(sketch.joint().get(), features, sink);
        } else {
            ofRuns(sketch, features, from, to, sink);
        }
    }

    /** Those that do not have the same value in all rows, as the name of a device has. */
    private static int[] changing(Sketch sketch, int[] features) {
        int count = 0;
        for (int feature : features) {
            count += isConstant(sketch.column(feature)) ? 0 : 1;
        }
        if (count == features.length) {
            return features;
        }
        int[] changing = new int[count];
        int used = 0;
        for (int feature : features) {
            if (!isConstant(sketch.column(feature))) {
                changing[used++] = feature;
            }
        }
        return changing;
    }

    /** Whether all rows have the first rank. */
    private static boolean isConstant(Column column) {
        return column.symbols().size() <= 1 && column.counts()[0] == column.rows();
    }

    private static int[] places(int[] features, int[] changing) {
        int[] places = new int[changing.length];
        int used = 0;
        for (int f = 0; f < features.length && used < changing.length; f++) {
            if (features[f] == changing[used]) {
                places[used++] = f;
            }
        }
        return places;
    }

    private static void ofCounts(int[] counts, Sink sink) {
        int[] ranks = new int[1];
        for (int rank = 0; rank < counts.length; rank++) {
            if (counts[rank] > 0) {
                ranks[0] = rank;
                sink.take(ranks, counts[rank]);
            }
        }
    }

    private static void ofCombinations(Sketch.Joint joint, int[] features, Sink sink) {
        int[] ranks = new int[features.length];
        for (int c = 0; c < joint.counts().length; c++) {
            for (int f = 0; f < features.length; f++) {
                ranks[f] = joint.combinations()[c][features[f]];
            }
            sink.take(ranks, joint.counts()[c]);
        }
    }

    private void ofRuns(Sketch sketch, int[] features, int from, int to, Sink sink) {
        int[] sizes = new int[features.length];
        long combinations = 1;
        for (int f = 0; f < sizes.length; f++) {
            sizes[f] = sketch.column(features[f]).symbols().size() + 1;
            combinations = Math.min(MOST_COMBINATIONS + 1L, combinations * sizes[f]);
        }
        if (combinations > MOST_COMBINATIONS) {
            RunMerger merger = new RunMerger(sketch, features, from, to);
            while (merger.next()) {
                sink.take(merger.ranks(), merger.length());
            }
            return;
        }
        if (counts.length < combinations) {
            counts = new int[(int) combinations];
        }
        int used = features.length == 1
                ? countOne(sketch.column(features[0]).sequence(), from, to)
                : countSeveral(new RunMerger(sketch, features, from, to), sizes);
        int[] ranks = new int[features.length];
        for (int i = 0; i < used; i++) {
            int rest = seen[i];
            for (int f = 0; f < ranks.length; f++) {
                ranks[f] = rest % sizes[f];
                rest /= sizes[f];
            }
            int weight = counts[seen[i]];
            counts[seen[i]] = 0; // before it is handed on, as that may fail
            sink.take(ranks, weight);
        }
    }

    private int countOne(Sequence sequence, int from, int to) {
        int used = 0;
        if (sequence.inRuns()) {
            Sequence.Runs runs = sequence.runs();
            int at = from;
            for (int run = runs.find(from); at < to; run++) {
                int end = Math.min(to, runs.ends()[run]);
                used = count(runs.ranks()[run], end - at, used);
                at = end;
            }
        } else {
            int[] ranks = sequence.ranks();
            for (int row = from; row < to; row++) {
                used = count(ranks[row], 1, used);
            }
        }
        return used;
    }

    private int countSeveral(RunMerger merger, int[] sizes) {
        int used = 0;
        while (merger.next()) {
            int[] ranks = merger.ranks();
            int combination = 0;
            for (int f = sizes.length - 1; f >= 0; f--) {
                combination = combination * sizes[f] + ranks[f];
            }
            used = count(combination, merger.length(), used);
        }
        return used;
    }

    private int count(int combination, int rows, int used) {
        int before = counts[combination];
        counts[combination] = before + rows;
        if (before > 0) {
            return used;
        }
        if (used == seen.length) {
            seen = Arrays.copyOf(seen, Math.max(64, 2 * used));
        }
        seen[used] = combination;
        return used + 1;
    }
}
