package dev.millrace.sketch.query;

import dev.millrace.sketch.time.Times;
import java.util.Arrays;
import java.util.List;

/**
 * Rows divided by some stretches of time, so that within each part all of them lie alike to each stretch. Where times are within
 * an error, rows near an end only possibly lie within. Not thread-safe.
 */
final class TimeParts {
    private final Times times;
    private final long error;
    private final boolean ordered;

    /** Takes rows {@code from} to {@code to}, excluded, and for each stretch the bits of their lying within. */
    @FunctionalInterface
    interface Sink {
        void take(int from, int to, byte[] truths);
    }

    TimeParts(Times times, long error) {
        this.times = times;
        this.error = error;
        this.ordered = times.ordered();
    }

    boolean ordered() {
        return ordered;
    }

    long error() {
        return error;
    }

    /** The first row, of ordered ones, that may be at or behind a time. */
    int firstFrom(long ticks) {
        return times.firstFrom(ticks < Long.MIN_VALUE + error ? Long.MIN_VALUE : ticks - error);
    }

    /** Hands on the parts of rows {@code from} to {@code to}, in order. */
    void each(int from, int to, List<Condition.Time> stretches, Sink sink) {
        if (stretches.isEmpty()) {
            sink.take(from, to, new byte[0]);
            return;
        }
        if (!ordered) {
            int first = from;
            byte[] truths = new byte[0];
            for (int row = from; row < to; row++) {
                byte[] mine = truths(row, stretches);
                if (row > first && !Arrays.equals(mine, truths)) {
                    sink.take(first, row, truths);
                    first = row;
                }
                truths = mine;
            }
            if (first < to) {
                sink.take(first, to, truths);
            }
            return;
        }
        int[] cuts = new int[6 * stretches.size() + 2];
        int used = 0;
        cuts[used++] = from;
        cuts[used++] = to;
        for (Condition.Time stretch : stretches) {
            for (int sign = -1; sign <= 1; sign++) {
                cuts[used++] = cut(stretch.from(), sign, 0, from, to);
                cuts[used++] = cut(stretch.last(), sign, 1, from, to);
            }
        }
        Arrays.sort(cuts);
        for (int c = 1; c < cuts.length; c++) {
            if (cuts[c - 1] < cuts[c]) {
                sink.take(cuts[c - 1], cuts[c], truths(cuts[c - 1], stretches));
            }
        }
    }

    /** The first row from a time on, plus or minus the error, and one tick. */
    private int cut(long time, int sign, int tick, int from, int to) {
        long at;
        try {
            at = Math.addExact(Math.addExact(time, sign * error), tick);
        } catch (ArithmeticException e) {
            return sign < 0 ? from : to;
        }
        return Math.min(to, Math.max(from, times.firstFrom(at)));
    }

    private byte[] truths(int row, List<Condition.Time> stretches) {
        byte[] truths = new byte[stretches.size()];
        long time = times.at(row);
        for (int s = 0; s < truths.length; s++) {
            truths[s] = (byte) stretches.get(s).truth(time, error);
        }
        return truths;
    }
}
