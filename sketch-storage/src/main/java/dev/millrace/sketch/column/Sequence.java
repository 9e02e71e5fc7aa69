package dev.millrace.sketch.column;

import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The ranks of a column's rows in their order, as runs or one by one, whichever the stored form is near to. Safe on any
 * thread.
 */
public final class Sequence {
    /** A function that makes the ranks of all rows when they are first needed. */
    @FunctionalInterface
    public interface Decoder extends Supplier<int[]> {}

    /**
     * Maximal runs of equal ranks.
     *
     * @param ranks one per run
     * @param ends the row behind each run
     * @param count how many runs; the arrays may be longer
     */
    public record Runs(int[] ranks, int[] ends, int count) {
        /** The run that holds a row. */
        public int find(int row) {
            int at = Arrays.binarySearch(ends, 0, count, row + 1);
            return at >= 0 ? at : -at - 1;
        }
    }

    private final int rows;
    private final Decoder decoder;
    private final boolean inRuns;
    private volatile int @Nullable [] ranks; // null until decoded; equal whoever writes it
    private volatile @Nullable Runs runs;

    private Sequence(int rows, Decoder decoder, int @Nullable [] ranks, @Nullable Runs runs) {
        this.rows = rows;
        this.decoder = decoder;
        this.ranks = ranks;
        this.runs = runs;
        this.inRuns = runs != null;
    }

    /** Of ranks one by one; takes ownership. */
    public static Sequence ofRanks(int[] ranks) {
        return new Sequence(ranks.length, () -> ranks, ranks, null);
    }

    /** Of ranks that are decoded when needed. */
    public static Sequence lazy(int rows, Decoder decoder) {
        return new Sequence(rows, decoder, null, null);
    }

    /** Of runs; takes ownership. Neighbouring runs of equal ranks are allowed. */
    public static Sequence ofRuns(int rows, Runs runs) {
        return new Sequence(rows, () -> expand(runs, rows), null, runs);
    }

    /** The same symbol in every row. */
    public static Sequence constant(int rows, int rank) {
        return ofRuns(
                rows,
                rows == 0 ? new Runs(new int[0], new int[0], 0) : new Runs(new int[] {rank}, new int[] {rows}, 1));
    }

    /** Row i has rank i. */
    public static Sequence identity(int rows) {
        return lazy(rows, () -> {
            int[] all = new int[rows];
            for (int i = 0; i < rows; i++) {
                all[i] = i;
            }
            return all;
        });
    }

    private static int[] expand(Runs runs, int rows) {
        int[] all = new int[rows];
        int from = 0;
        for (int r = 0; r < runs.count; r++) {
            Arrays.fill(all, from, runs.ends[r], runs.ranks[r]);
            from = runs.ends[r];
        }
        return all;
    }

    public int rows() {
        return rows;
    }

    /** Whether the sequence is stored as runs, so that {@link #runs()} costs nothing. */
    public boolean inRuns() {
        return inRuns;
    }

    /** The rank of every row; not to be changed. */
    public int[] ranks() {
        int[] all = ranks;
        if (all == null) {
            all = decoder.get();
            ranks = all;
        }
        return all;
    }

    /** The runs; not to be changed. */
    public Runs runs() {
        Runs all = runs;
        if (all == null) {
            all = find(ranks());
            runs = all;
        }
        return all;
    }

    private static Runs find(int[] ranks) {
        int count = 0;
        for (int i = 0; i < ranks.length; i++) {
            count += i == 0 || ranks[i] != ranks[i - 1] ? 1 : 0;
        }
        int[] values = new int[count];
        int[] ends = new int[count];
        int run = -1;
        for (int i = 0; i < ranks.length; i++) {
            if (i == 0 || ranks[i] != ranks[i - 1]) {
                run++;
                values[run] = ranks[i];
            }
            ends[run] = i + 1;
        }
        return new Runs(values, ends, count);
    }

    /** How often each of {@code ranks} ranks occurs. */
    public int[] count(int ranksCount) {
        int[] counts = new int[ranksCount];
        if (inRuns) {
            Runs all = runs();
            int from = 0;
            for (int r = 0; r < all.count; r++) {
                counts[all.ranks[r]] += all.ends[r] - from;
                from = all.ends[r];
            }
        } else {
            for (int rank : ranks()) {
                counts[rank]++;
            }
        }
        return counts;
    }
}
