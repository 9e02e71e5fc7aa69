package dev.millrace.sketch.form;

import dev.millrace.sketch.bins.Binned;
import java.util.Arrays;

/** The distinct bins of a column in rising order, then its distinct exact values, and each row's rank among them. */
final class Dictionary {
    private static final int SMALL = 16;

    final long[] bins;
    final double[] exact;
    final long[] ranks;
    final int[] counts;

    private Dictionary(long[] bins, double[] exact, long[] ranks, int[] counts) {
        this.bins = bins;
        this.exact = exact;
        this.ranks = ranks;
        this.counts = counts;
    }

    int size() {
        return bins.length + exact.length;
    }

    /** The most symbols with which a dictionary pays. */
    static int limit(int rows) {
        return Math.max(SMALL, rows / 4);
    }

    /** Whether values in bins have few enough distinct ones; a bound on the work before {@link #of}. */
    static Dictionary of(Binned binned, double[] values, int count) {
        long low = Long.MAX_VALUE;
        long high = Long.MIN_VALUE;
        int exactRows = 0;
        long[] bins = binned.bins();
        for (int i = 0; i < count; i++) {
            if (binned.isExact(i)) {
                exactRows++;
            } else {
                low = Math.min(low, bins[i]);
                high = Math.max(high, bins[i]);
            }
        }
        double[] exact = exactRows == 0 ? new double[0] : distinctExact(binned, values, count, exactRows);
        long[] ranks = new long[count];
        long span = high - low;
        long[] distinct;
        if (exactRows == count) {
            distinct = new long[0];
        } else if (span >= 0 && span < 4L * count + 1024) {
            distinct = byTable(binned, count, low, (int) span + 1, ranks);
        } else {
            distinct = bySorting(binned, count, ranks);
        }
        for (int i = 0; exactRows > 0 && i < count; i++) {
            if (binned.isExact(i)) {
                ranks[i] = distinct.length + Arrays.binarySearch(exact, values[i]);
            }
        }
        int[] counts = new int[distinct.length + exact.length];
        for (int i = 0; i < count; i++) {
            counts[(int) ranks[i]]++;
        }
        return new Dictionary(distinct, exact, ranks, counts);
    }

    private static long[] byTable(Binned binned, int count, long low, int span, long[] ranks) {
        long[] bins = binned.bins();
        int[] rankOf = new int[span];
        int distinct = 0;
        for (int i = 0; i < count; i++) {
            if (!binned.isExact(i)) {
                int at = (int) (bins[i] - low);
                distinct += 1 - rankOf[at];
                rankOf[at] = 1;
            }
        }
        long[] result = new long[distinct];
        int next = 0;
        for (int at = 0; at < span; at++) {
            if (rankOf[at] == 1) {
                result[next] = low + at;
                rankOf[at] = next++;
            }
        }
        for (int i = 0; i < count; i++) {
            ranks[i] = binned.isExact(i) ? 0 : rankOf[(int) (bins[i] - low)];
        }
        return result;
    }

    private static long[] bySorting(Binned binned, int count, long[] ranks) {
        long[] sorted = new long[count];
        int used = 0;
        for (int i = 0; i < count; i++) {
            if (!binned.isExact(i)) {
                sorted[used++] = binned.bins()[i];
            }
        }
        Arrays.sort(sorted, 0, used);
        int distinct = 0;
        for (int i = 0; i < used; i++) {
            if (i == 0 || sorted[i] != sorted[i - 1]) {
                sorted[distinct++] = sorted[i];
            }
        }
        long[] result = Arrays.copyOf(sorted, distinct);
        for (int i = 0; i < count; i++) {
            ranks[i] = binned.isExact(i) ? 0 : Arrays.binarySearch(result, binned.bins()[i]);
        }
        return result;
    }

    /** Distinct by bits but for NaN, whose payloads are one; sorted as {@link Double#compare} does. */
    private static double[] distinctExact(Binned binned, double[] values, int count, int exactRows) {
        double[] all = new double[exactRows];
        int used = 0;
        for (int i = 0; i < count; i++) {
            if (binned.isExact(i)) {
                all[used++] = values[i];
            }
        }
        Arrays.sort(all);
        int distinct = 0;
        for (int i = 0; i < used; i++) {
            if (i == 0 || Double.compare(all[i], all[i - 1]) != 0) {
                all[distinct++] = all[i];
            }
        }
        return Arrays.copyOf(all, distinct);
    }
}
