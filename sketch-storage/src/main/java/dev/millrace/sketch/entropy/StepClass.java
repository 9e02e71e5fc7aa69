package dev.millrace.sketch.entropy;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A fixed family of distributions of small steps, -7 to 7 and an escape: how likely none is, how likely an upward one
 * among the others, and how quickly larger ones get rarer. A member is named by ten bits; its tables are made once.
 */
final class StepClass {
    static final int BITS = 10;
    static final int LOG = 10;
    /** The symbol of step s is s + {@code MIDDLE}. */
    static final int MIDDLE = 7;

    static final int ESCAPE = 2 * MIDDLE + 1;
    static final int SYMBOLS = ESCAPE + 1;

    // In 1/1024.
    private static final int[] STILL = {10, 50, 110, 180, 260, 350, 440, 540, 630, 720, 800, 870, 925, 965, 995, 1015};
    private static final int[] UP = {15, 90, 220, 380, 512, 644, 804, 934};
    private static final int[] TAIL = {12, 70, 170, 300, 440, 580, 710, 830};
    private static final int ONE = 1024;

    private static final AtomicReferenceArray<AnsTable> TABLES = new AtomicReferenceArray<>(1 << BITS);

    private StepClass() {}

    /** The tables of a member; made when first asked for. */
    static AnsTable table(int member) {
        AnsTable table = TABLES.get(member);
        if (table == null) {
            table = make(member); // two threads may both make it: the tables are equal
            TABLES.set(member, table);
        }
        return table;
    }

    /** The member that suits counts of symbols. */
    static int fit(int[] counts, int from) {
        long steps = 0;
        long up = 0;
        long magnitude = 0;
        long zero = counts[from + MIDDLE];
        for (int m = 1; m <= MIDDLE; m++) {
            long higher = counts[from + MIDDLE + m];
            long lower = counts[from + MIDDLE - m];
            up += higher;
            steps += higher + lower;
            magnitude += m * (higher + lower);
        }
        long escapes = counts[from + ESCAPE];
        long all = zero + steps + escapes;
        int still = nearest(STILL, zero, all);
        int direction = nearest(UP, 2 * up + 1, 2 * steps + 2);
        long moves = steps + escapes;
        int tail = nearest(TAIL, magnitude + escapes * (MIDDLE + 1) - moves, magnitude + escapes * (MIDDLE + 1));
        return still << 6 | direction << 3 | tail;
    }

    private static int nearest(int[] levels, long part, long all) {
        if (all <= 0) {
            return levels.length / 2;
        }
        long value = part * ONE / all;
        int best = 0;
        while (best + 1 < levels.length && value * 2 > levels[best] + levels[best + 1]) {
            best++;
        }
        return best;
    }

    private static AnsTable make(int member) {
        double still = STILL[member >> 6] / (double) ONE;
        double up = UP[member >> 3 & 7] / (double) ONE;
        double tail = TAIL[member & 7] / (double) ONE;
        int[] counts = new int[SYMBOLS];
        int scale = 1 << 20;
        counts[MIDDLE] = (int) (still * scale);
        double left = (1 - still) * scale;
        for (int m = 1; m <= MIDDLE; m++) {
            double here = left * (1 - tail);
            counts[MIDDLE + m] = rareIsNone(here * up);
            counts[MIDDLE - m] = rareIsNone(here * (1 - up));
            left -= here;
        }
        counts[ESCAPE] = Math.max(scale >> LOG, (int) left);
        long total = 0;
        for (int count : counts) {
            total += count;
        }
        return new AnsTable(AnsTable.normalise(counts, total, LOG), LOG);
    }

    /** A symbol of less than half a state is left to the escape. */
    private static int rareIsNone(double count) {
        return count < 1 << 20 - LOG - 1 ? 0 : (int) count;
    }
}
