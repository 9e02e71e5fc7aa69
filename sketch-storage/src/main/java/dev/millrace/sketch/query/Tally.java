package dev.millrace.sketch.query;

import java.util.Arrays;

/**
 * How often values occur, by their points: in arrays, without an object for each. Of more than some number of different ones, neighbours are
 * put together at the higher or at the lower of the two. Not thread-safe.
 */
final class Tally {
    private final int measures; // how many counts each has
    private final int most;
    private final boolean upward;
    private long[] keys = {};
    private long[] counts = {}; // by key and measure
    private int size;
    private boolean sorted = true;

    Tally(int measures, int most, boolean upward) {
        this.measures = measures;
        this.most = most;
        this.upward = upward;
    }

    /** Adds to how often, in the first measure, a point occurs. */
    void add(long key, long weight) {
        int at = place(key);
        counts[at] += weight;
    }

    /** Adds to how often a point occurs as seen, for certain and possibly, which are three measures. */
    void add(long key, int verdict, long weight) {
        int at = place(key);
        counts[at] += (verdict & Condition.SEEN) != 0 ? weight : 0;
        counts[at + 1] += (verdict & Condition.CERTAIN) != 0 ? weight : 0;
        counts[at + 2] += (verdict & Condition.POSSIBLE) != 0 ? weight : 0;
    }

    void add(Tally other) {
        for (int i = 0; i < other.size; i++) {
            int at = place(other.keys[i]);
            for (int m = 0; m < measures; m++) {
                counts[at + m] += other.counts[i * measures + m];
            }
        }
    }

    private int place(long key) {
        if (size > 0 && keys[size - 1] == key) {
            return (size - 1) * measures;
        }
        if (size == keys.length) {
            makeRoom();
        }
        sorted &= size == 0 || keys[size - 1] < key;
        keys[size] = key;
        Arrays.fill(counts, size * measures, (size + 1) * measures, 0);
        return size++ * measures;
    }

    private void makeRoom() {
        sort();
        if (size > most) {
            putTogether();
        }
        if (2 * size >= keys.length) {
            int room = Math.max(4, 2 * keys.length);
            keys = Arrays.copyOf(keys, room);
            counts = Arrays.copyOf(counts, room * measures);
        }
    }

    private void putTogether() {
        int kept = 0;
        for (int i = 0; i < size; i += 2, kept++) {
            boolean pair = i + 1 < size;
            keys[kept] = keys[pair && upward ? i + 1 : i];
            for (int m = 0; m < measures; m++) {
                counts[kept * measures + m] = counts[i * measures + m] + (pair ? counts[(i + 1) * measures + m] : 0);
            }
        }
        size = kept;
    }

    /** Has points rise, each once. */
    private void sort() {
        if (sorted) {
            return;
        }
        long[] rising = Arrays.copyOf(keys, size);
        Arrays.sort(rising);
        int distinct = 1;
        for (int i = 1; i < size; i++) {
            if (rising[i] != rising[distinct - 1]) {
                rising[distinct++] = rising[i];
            }
        }
        long[] sums = new long[counts.length];
        for (int i = 0; i < size; i++) {
            int to = Arrays.binarySearch(rising, 0, distinct, keys[i]) * measures;
            for (int m = 0; m < measures; m++) {
                sums[to + m] += counts[i * measures + m];
            }
        }
        System.arraycopy(rising, 0, keys, 0, distinct);
        counts = sums;
        size = distinct;
        sorted = true;
    }

    /** How many different points there are; from now on they are asked for in rising order. */
    int sortedSize() {
        sort();
        return size;
    }

    long key(int index) {
        return keys[index];
    }

    long count(int index, int measure) {
        return counts[index * measures + measure];
    }
}
