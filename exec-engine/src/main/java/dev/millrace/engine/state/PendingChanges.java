package dev.millrace.engine.state;

import java.util.Arrays;

/**
 * Changes on their way out, in order: the address of a row, a word that goes with it (a rank, the address of its results) and
 * a weight. The rows are others', who keep them until they are taken. One thread.
 */
public final class PendingChanges {
    private static final int FIRST = 16;
    private static final int KEPT = 1_024; // beyond that arrays are not kept for epochs to come

    private long[] rows = new long[FIRST];
    private long[] words = new long[FIRST];
    private long[] weights = new long[FIRST];
    private int taken;
    private int count;

    /** Some changes, side by side. */
    public record Some(long[] rows, long[] words, long[] weights) {
        public int size() {
            return rows.length;
        }
    }

    public void add(long row, long word, long weight) {
        if (count == rows.length) {
            rows = Arrays.copyOf(rows, 2 * count);
            words = Arrays.copyOf(words, 2 * count);
            weights = Arrays.copyOf(weights, 2 * count);
        }
        rows[count] = row;
        words[count] = word;
        weights[count++] = weight;
    }

    /** How many wait. */
    public int size() {
        return count - taken;
    }

    /** Takes the next, at most so many. */
    public Some take(int most) {
        int from = taken;
        int to = Math.min(count, from + most);
        Some some = new Some(
                Arrays.copyOfRange(rows, from, to),
                Arrays.copyOfRange(words, from, to),
                Arrays.copyOfRange(weights, from, to));
        taken = to;
        if (taken == count) {
            taken = 0;
            count = 0;
            if (rows.length > KEPT) {
                rows = new long[FIRST];
                words = new long[FIRST];
                weights = new long[FIRST];
            }
        }
        return some;
    }
}
