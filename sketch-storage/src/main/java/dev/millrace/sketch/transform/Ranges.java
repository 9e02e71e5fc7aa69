package dev.millrace.sketch.transform;

import java.util.Arrays;

/** Rising, disjoint ranges of rows, neighbouring ones joined. Not thread-safe. */
final class Ranges {
    private int[] bounds = new int[16];
    private int used;
    private int rows;

    void add(int from, int to) {
        rows += to - from;
        if (used > 0 && bounds[used - 1] == from) {
            bounds[used - 1] = to;
            return;
        }
        if (used + 2 > bounds.length) {
            bounds = Arrays.copyOf(bounds, 2 * bounds.length);
        }
        bounds[used++] = from;
        bounds[used++] = to;
    }

    /** Pairs of a first row and the row behind the last. */
    int[] bounds() {
        return Arrays.copyOf(bounds, used);
    }

    int rows() {
        return rows;
    }
}
