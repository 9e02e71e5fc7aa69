package dev.millrace.sketch.query;

import java.util.Arrays;

/**
 * The rows of one group as cells: rows that are alike in all that is asked about. Per cell how many rows, the verdict on
 * them, and their rank in each feature that is aggregated. Not thread-safe.
 */
final class Cells {
    private final int features;
    int[] weights = new int[16];
    byte[] verdicts = new byte[16];
    int[] ranks; // by cell and feature
    int count;

    Cells(int features) {
        this.features = features;
        ranks = new int[16 * Math.max(1, features)];
    }

    /** Adds a cell; returns where its ranks go. */
    int add(int weight, int verdict) {
        if (count == weights.length) {
            weights = Arrays.copyOf(weights, 2 * count);
            verdicts = Arrays.copyOf(verdicts, 2 * count);
            ranks = Arrays.copyOf(ranks, 2 * count * Math.max(1, features));
        }
        weights[count] = weight;
        verdicts[count] = (byte) verdict;
        return count++ * features;
    }

    void clear() {
        count = 0;
    }

    int rank(int cell, int feature) {
        return ranks[cell * features + feature];
    }
}
